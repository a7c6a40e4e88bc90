// Pools of graphs, in any number of spatial dimensions, on data [n, c, spatial…].
//   max_pool, max_pool_indices, lp_pool   {kernel_shape, strides, pads, dilations}
//   average_pool                          {…, count_include_pad, counted_pads}
// counted_pads says how far the border reaches that an average counts as elements: the pads of the
// model if count_include_pad, else 0; `pads` may be larger to make room for a last window.
#include <fmt/format.h>

#include "compiler/ops/definitions/spatial.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

Types infer_pool(const OpCall& call) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const TensorType& data = call.inputs[0];
  const Shape shape = window_positions(data.shape[0], data.shape[1], windows);
  for (std::size_t i = 2; i < shape.size(); ++i) {
    if (shape[i] < 0 || (shape[i] == 0 && data.shape[i] > 0)) {
      return does_not_fit(call, fmt::format("the kernel is larger than dimension {}", i));
    }
  }
  return std::vector<TensorType>{{data.dtype, shape, {}}};
}

Types infer_indices(const OpCall& call) {
  ATTUNE_ASSIGN(std::vector<TensorType> types, infer_pool(call));
  types[0].dtype = ir::kI64;
  return types;
}

struct Pool {
  std::vector<Window> windows;
  std::vector<ir::Axis> axes;
  ir::Expr element;  // the padded input under a tap
  Index from;        // its index
};

Result<Pool> pool_of(ir::Program& program, const OpCall& call, const Read& data,
                     const ir::Expr& fill) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const TensorType& type = call.inputs[0];
  Pool pool{windows, axes_of(window_positions(type.shape[0], type.shape[1], windows)), {}, {}};
  const Read input = padded_data(program, type, data, windows, fill);
  const Index index = variables_of(pool.axes);
  pool.from = {index[0], index[1]};
  for (const ir::Expr& place : tap_places(windows, index)) pool.from.push_back(place);
  pool.element = input(pool.from);
  return pool;
}

ir::Expr least_of(ir::DType type) { return ir::identity_of(ir::Reduction::Max, type); }

Result<ir::Buffer> max_pool_stages(ir::Program& program, const OpCall& call,
                                   const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const Pool pool, pool_of(program, call, inputs[0], least_of(call.inputs[0].dtype)));
  return ir::add_reduce(program, free_stage_name(program, "anchor"), pool.axes,
                        tap_axes(pool.windows), ir::Reduction::Max, pool.element);
}

// {…, storage_order}: positions within the whole tensor of the largest elements; storage order 1
// counts each image column by column.
Result<ir::Buffer> max_pool_indices_stages(ir::Program& program, const OpCall& call,
                                           const std::vector<Read>& inputs) {
  const Shape& shape = call.inputs[0].shape;
  ATTUNE_ASSIGN(const Pool pool, pool_of(program, call, inputs[0], least_of(call.inputs[0].dtype)));
  ir::Expr place = 0;
  for (std::size_t i = 0; i < pool.windows.size(); ++i) {
    const std::size_t d = call.integer("storage_order") == 0 ? i : pool.windows.size() - 1 - i;
    place =
        place * ir::Expr(shape[d + 2]) + pool.from[d + 2] - ir::Expr(pool.windows[d].pad_before);
  }
  const std::int64_t image = product_of(shape, 2, shape.size());
  const ir::Expr images = pool.from[0] * ir::Expr(shape[1]) + pool.from[1];
  return ir::add_arg_reduce(program, free_stage_name(program, "anchor"), pool.axes,
                            tap_axes(pool.windows), ir::Reduction::ArgMax, pool.element,
                            images * ir::Expr(image) + place)[1];
}

// How many taps of a window lie in [-before, size + after).
ir::Expr counted_taps(const Window& window, const ir::Expr& position, std::int64_t before,
                      std::int64_t after) {
  const ir::Expr start = scaled(position, window.stride) - ir::Expr(window.pad_before);
  const ir::Expr low = ir::max(ir::Expr(-before) - start, ir::Expr(0));
  const ir::Expr high = ir::Expr(window.size + after - 1) - start;
  const ir::Expr first = (low + ir::Expr(window.dilation - 1)) / ir::Expr(window.dilation);
  const ir::Expr last = ir::min(high / ir::Expr(window.dilation), ir::Expr(window.kernel - 1));
  return last - first + 1;
}

Result<ir::Buffer> average_pool_stages(ir::Program& program, const OpCall& call,
                                       const std::vector<Read>& inputs) {
  const ir::DType type = call.inputs[0].dtype;
  ATTUNE_ASSIGN(const Pool pool, pool_of(program, call, inputs[0], ir::zero_of(type)));
  const ir::Buffer sum =
      ir::add_reduce(program, free_stage_name(program, "anchor"), pool.axes, tap_axes(pool.windows),
                     ir::Reduction::Sum, ir::cast(sum_type(type), pool.element));
  const Index index = variables_of(pool.axes);
  const Shape& counted = call.integers("counted_pads");
  ir::Expr count = 1;
  for (std::size_t i = 0; i < pool.windows.size(); ++i) {
    const Window& window = pool.windows[i];
    const std::int64_t before = counted[i], after = counted[i + pool.windows.size()];
    const bool all = before == window.pad_before && after == window.pad_after;
    count =
        count * (all ? ir::Expr(window.kernel) : counted_taps(window, index[i + 2], before, after));
  }
  const auto* constant = ir::as_int(count);
  const ir::Expr divisor = constant != nullptr ? imm(sum->type, static_cast<double>(*constant))
                                               : ir::cast(sum->type, count);
  return ir::add_compute(program, free_stage_name(program, "average"), pool.axes,
                         ir::load(sum, index) / divisor);
}

ir::Expr power(const ir::Expr& value, double exponent) {
  if (exponent == 1) return value;
  if (exponent == 2) return value * value;
  return ir::math(ir::MathFn::Pow, {value, imm(value.type(), exponent)});
}

ir::Expr root(const ir::Expr& value, double degree) {
  if (degree == 1) return value;
  if (degree == 2) return ir::math(ir::MathFn::Sqrt, {value});
  return ir::math(ir::MathFn::Pow, {value, imm(value.type(), 1 / degree)});
}

// {…, p}: the p-norm of each window.
Result<ir::Buffer> lp_pool_stages(ir::Program& program, const OpCall& call,
                                  const std::vector<Read>& inputs) {
  const ir::DType type = call.inputs[0].dtype;
  const auto p = static_cast<double>(call.integer("p"));
  ATTUNE_ASSIGN(const Pool pool, pool_of(program, call, inputs[0], ir::zero_of(type)));
  const ir::Expr size = ir::math(ir::MathFn::Abs, {ir::cast(sum_type(type), pool.element)});
  const ir::Buffer sum = ir::add_reduce(program, free_stage_name(program, "anchor"), pool.axes,
                                        tap_axes(pool.windows), ir::Reduction::Sum, power(size, p));
  return ir::add_compute(program, free_stage_name(program, "root"), pool.axes,
                         root(ir::load(sum, variables_of(pool.axes)), p));
}

Types infer_global(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  if (type.rank() < 3) return does_not_fit(call, "there are no spatial dimensions");
  for (std::size_t i = 2; i < type.shape.size(); ++i) type.shape[i] = 1;
  return std::vector{type};
}

// The reduction of all spatial dimensions, with them kept as 1.
ir::Buffer reduce_image(ir::Program& program, const OpCall& call, const Read& data,
                        ir::Reduction reduction) {
  const TensorType& type = call.inputs[0];
  Shape shape = type.shape, image(type.shape.begin() + 2, type.shape.end());
  std::fill(shape.begin() + 2, shape.end(), 1);
  const std::vector<ir::Axis> axes = axes_of(shape), reduce = axes_of(image, "r");
  Index from{ir::axis_var(axes[0]), ir::axis_var(axes[1])};
  for (const ir::Axis& axis : reduce) from.push_back(ir::axis_var(axis));
  const ir::DType sum = reduction == ir::Reduction::Max ? type.dtype : sum_type(type.dtype);
  return ir::add_reduce(program, free_stage_name(program, "anchor"), axes, reduce, reduction,
                        ir::cast(sum, data(from)));
}

Result<ir::Buffer> global_max_stages(ir::Program& program, const OpCall& call,
                                     const std::vector<Read>& inputs) {
  return reduce_image(program, call, inputs[0], ir::Reduction::Max);
}

Result<ir::Buffer> global_average_stages(ir::Program& program, const OpCall& call,
                                         const std::vector<Read>& inputs) {
  const Shape& shape = call.inputs[0].shape;
  const ir::Buffer sum = reduce_image(program, call, inputs[0], ir::Reduction::Sum);
  const auto count = static_cast<double>(product_of(shape, 2, shape.size()));
  const std::vector<ir::Axis> axes = axes_of(sum->shape);
  return ir::add_compute(program, free_stage_name(program, "average"), axes,
                         ir::load(sum, variables_of(axes)) / imm(sum->type, count));
}

}  // namespace

std::vector<OpDef> pooling_operators() {
  return {
      by_stages("max_pool", OpKind::Reduction, infer_pool, max_pool_stages,
                {.zeros = Zeros::First, .narrow = true, .pads_with = PadValue::Least}),
      by_stages("max_pool_indices", OpKind::Reduction, infer_indices, max_pool_indices_stages),
      by_stages("average_pool", OpKind::Reduction, infer_pool, average_pool_stages,
                {.zeros = Zeros::First, .narrow = true, .pads_with = PadValue::Zero}),
      by_stages("lp_pool", OpKind::Reduction, infer_pool, lp_pool_stages,
                {.zeros = Zeros::First, .pads_with = PadValue::Zero}),
      by_stages("global_average_pool", OpKind::Reduction, infer_global, global_average_stages,
                {.zeros = Zeros::First, .narrow = true}),
      by_stages("global_max_pool", OpKind::Reduction, infer_global, global_max_stages,
                {.zeros = Zeros::First, .narrow = true}),
  };
}

}  // namespace attune::ops
