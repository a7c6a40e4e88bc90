// Normalisations. Statistics are kept in f32 (f64 for f64).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/definitions/reduced_axes.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;
using ir::Reduction;

Status check_floats(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i) && !call.inputs[i].dtype.is_float()) {
      return invalid(fmt::format("{} of {}, needs floats", call.name, to_string(call.inputs[i])));
    }
  }
  return require_static(call);
}

// x [n, c, …], then scale, bias, mean and variance [c].
Types infer_channels(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_floats(call));
  const TensorType& x = call.inputs[0];
  const std::int64_t channels = x.rank() < 2 ? 1 : x.shape[1];
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].shape != std::vector{channels}) {
      return invalid(fmt::format("{} of {}: parameter {} is {}, must have {} elements", call.name,
                                 to_string(x), i, to_string(call.inputs[i]), channels));
    }
  }
  return std::vector{x};
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias.
Expr batch_norm_element(const OpCall& call, const std::vector<Read>& inputs,
                        const std::vector<Expr>& index) {
  const ir::DType wide = computed_in(call.inputs[0].dtype);
  const Expr channel = index.size() < 2 ? Expr(0) : index[1];
  const auto parameter = [&](std::size_t i) { return ir::cast(wide, inputs[i]({channel})); };
  const Expr root = ir::math(MathFn::Sqrt, {parameter(4) + imm(wide, call.real("epsilon"))});
  const Expr scale = parameter(1) / root;
  return (ir::cast(wide, inputs[0](index)) - parameter(3)) * scale + parameter(2);
}

Types infer_layers(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_floats(call));
  ATTUNE_RETURN_IF_ERROR(check_axes(call, {call.integer("axis")}));
  const TensorType& x = call.inputs[0];
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    if (!call.has(i)) continue;
    const std::vector<std::vector<std::int64_t>> shapes{x.shape, call.inputs[i].shape};
    const auto shape = broadcast_shape(shapes);
    if (!shape.ok() || *shape != x.shape) {
      return invalid(fmt::format("{} of {}: parameter {} is {}, which does not broadcast to it",
                                 call.name, to_string(x), i, to_string(call.inputs[i])));
    }
  }
  return std::vector{x};
}

// The last dimensions, from `axis` on.
std::vector<std::int64_t> last_axes(const OpCall& call) {
  std::vector<std::int64_t> axes;
  for (std::int64_t d = call.integer("axis"); d < call.inputs[0].rank(); ++d) axes.push_back(d);
  return axes;
}

// mean, variance around it and the result of layer_norm; without the mean for rms_norm.
template <bool centred>
Result<ir::Buffer> layer_stages(ir::Program& program, const OpCall& call,
                                const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  const ReducedAxes rows(shape, last_axes(call), false);
  const ir::DType wide = computed_in(call.inputs[0].dtype);
  const Expr share = imm(wide, 1.0 / static_cast<double>(rows.count()));
  const auto x = [&](const std::vector<Expr>& index) { return ir::cast(wide, inputs[0](index)); };
  ir::Buffer mean;
  if constexpr (centred) {
    mean = ir::add_reduce(program, free_stage_name(program, "mean"), rows.kept(), rows.reduced(),
                          Reduction::Sum, x(rows.input_index()) * share);
  }
  const auto distance = [&](const std::vector<Expr>& index, const std::vector<Expr>& row) {
    return centred ? x(index) - ir::load(mean, row) : x(index);
  };
  const Expr d = distance(rows.input_index(), rows.kept_index());
  const ir::Buffer variance = ir::add_reduce(program, free_stage_name(program, "var"), rows.kept(),
                                             rows.reduced(), Reduction::Sum, d * d * share);
  const std::vector<ir::Axis> all = axes_of(shape);
  std::vector<Expr> index;
  for (const ir::Axis& a : all) index.push_back(ir::axis_var(a));
  const std::vector<Expr> row(index.begin(), index.begin() + call.integer("axis"));
  const Expr scale =
      ir::math(MathFn::Rsqrt, {ir::load(variance, row) + imm(wide, call.real("epsilon"))});
  Expr value = distance(index, row) * scale;
  const auto parameter = [&](std::size_t i) {
    return ir::cast(wide, inputs[i](broadcast_index(call.inputs[i].shape, index)));
  };
  if (call.has(1)) value = value * parameter(1);
  if (call.has(2)) value = value + parameter(2);
  return ir::add_compute(program, free_stage_name(program, "anchor"), all, value);
}

// x [n, c, …], scale and bias [c]; the channels of a group are normalised together.
Result<ir::Buffer> group_stages(ir::Program& program, const OpCall& call,
                                const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  const std::int64_t groups = call.integer("groups"), width = shape[1] / groups;
  const ir::DType wide = computed_in(call.inputs[0].dtype);
  const std::vector<ir::Axis> kept{{"n", shape[0]}, {"g", groups}};
  std::vector<ir::Axis> reduced{{"r0", width}};
  std::vector<Expr> from{ir::var("n"), ir::var("g") * Expr(width) + ir::var("r0")};
  std::int64_t count = width;
  for (std::size_t d = 2; d < shape.size(); ++d) {
    reduced.push_back({fmt::format("r{}", d - 1), shape[d]});
    from.push_back(ir::axis_var(reduced.back()));
    count *= shape[d];
  }
  const Expr share = imm(wide, 1.0 / static_cast<double>(count));
  const auto x = [&](const std::vector<Expr>& index) { return ir::cast(wide, inputs[0](index)); };
  const std::vector<Expr> group{ir::var("n"), ir::var("g")};
  const ir::Buffer mean = ir::add_reduce(program, free_stage_name(program, "mean"), kept, reduced,
                                         Reduction::Sum, x(from) * share);
  const Expr d = x(from) - ir::load(mean, group);
  const ir::Buffer variance = ir::add_reduce(program, free_stage_name(program, "var"), kept,
                                             reduced, Reduction::Sum, d * d * share);
  const std::vector<ir::Axis> all = axes_of(shape);
  std::vector<Expr> index;
  for (const ir::Axis& a : all) index.push_back(ir::axis_var(a));
  const std::vector<Expr> own{index[0], width == 1 ? index[1] : index[1] / Expr(width)};
  const Expr scale =
      ir::math(MathFn::Rsqrt, {ir::load(variance, own) + imm(wide, call.real("epsilon"))});
  const Expr value =
      (x(index) - ir::load(mean, own)) * scale * ir::cast(wide, inputs[1]({index[1]})) +
      ir::cast(wide, inputs[2]({index[1]}));
  return ir::add_compute(program, free_stage_name(program, "anchor"), all, value);
}

Types infer_group(const OpCall& call) {
  const TensorType& x = call.inputs[0];
  const std::int64_t groups = call.integer("groups");
  if (x.rank() < 2 || groups < 1 || x.shape[1] % groups != 0) {
    return invalid(
        fmt::format("{} of {} in {} groups does not divide", call.name, to_string(x), groups));
  }
  return infer_channels(call);
}

Types infer_lrn(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_floats(call));
  if (call.inputs[0].rank() < 2 || call.integer("size") < 1) {
    return invalid(fmt::format("lrn of {} with size {} has no meaning", to_string(call.inputs[0]),
                               call.integer("size")));
  }
  return std::vector{call.inputs[0]};
}

// x / (bias + alpha / size * sum of the squares of near channels) ^ beta.
Result<ir::Buffer> lrn_stages(ir::Program& program, const OpCall& call,
                              const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  const std::int64_t size = call.integer("size");
  const ir::DType wide = computed_in(call.inputs[0].dtype);
  const std::vector<ir::Axis> all = axes_of(shape);
  std::vector<Expr> index;
  for (const ir::Axis& a : all) index.push_back(ir::axis_var(a));
  // The taps of the window, or, where it is wider than the channels, all of these.
  const std::int64_t before = (size - 1) / 2, after = size / 2;
  const bool wide_window = size > shape[1];
  const ir::Axis tap{"r0", wide_window ? shape[1] : size};
  std::vector<Expr> near = index;
  near[1] = wide_window ? ir::axis_var(tap) : index[1] + ir::axis_var(tap) - Expr(before);
  const Expr inside = wide_window ? near[1] + Expr(std::min(before, shape[1])) >= index[1] &&
                                        near[1] - Expr(std::min(after, shape[1])) <= index[1]
                                  : near[1] >= 0 && near[1] < Expr(shape[1]);
  const Expr x = ir::select(inside, ir::cast(wide, inputs[0](near)), ir::zero_of(wide));
  const ir::Buffer sum =
      ir::add_reduce(program, free_stage_name(program, "sum"), all, {tap}, Reduction::Sum, x * x);
  const Expr base =
      ir::load(sum, index) * imm(wide, call.real("alpha") / static_cast<double>(size)) +
      imm(wide, call.real("bias"));
  const Expr value = ir::cast(wide, inputs[0](index)) /
                     ir::math(MathFn::Pow, {base, imm(wide, call.real("beta"))});
  return ir::add_compute(program, free_stage_name(program, "anchor"), all, value);
}

}  // namespace

std::vector<OpDef> normalisation_operators() {
  constexpr auto kind = OpKind::Opaque;
  return {
      // Operands: x, scale, bias, mean, variance. epsilon
      by_element("batch_norm", OpKind::Injective, infer_channels, batch_norm_element),
      // Operands: x, scale and bias that broadcast to it and may be left out. axis, epsilon
      by_stages("layer_norm", kind, infer_layers, layer_stages<true>),
      by_stages("rms_norm", kind, infer_layers, layer_stages<false>),
      // Operands: x, scale, bias. groups, epsilon
      by_stages("group_norm", kind, infer_group, group_stages),
      // size, alpha, beta, bias
      by_stages("lrn", kind, infer_lrn, lrn_stages),
  };
}

}  // namespace attune::ops
