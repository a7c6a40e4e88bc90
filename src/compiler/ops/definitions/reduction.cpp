// Reductions over some axes (attributes axes, keepdims), and the places of extremes.
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

template <TypeSet set>
Types infer_reduce(const OpCall& call) {
  const TensorType& input = call.inputs[0];
  if (!contains(set, input.dtype)) {
    return invalid(fmt::format("{} of {} has no meaning", call.name, to_string(input)));
  }
  ATTUNE_ASSIGN(TensorType type,
                reduced_type(call, call.integers("axes"), call.integer("keepdims") != 0));
  return std::vector{type};
}

// What is reduced, and what becomes of the result; `x` and `total` are in the type of sums.
struct Meaning {
  Reduction reduction;
  Expr (*before)(const Expr& x);
  Expr (*after)(const Expr& total, std::int64_t count);
};

Expr itself(const Expr& x) { return x; }
Expr total_itself(const Expr& total, std::int64_t /*count*/) { return total; }
Expr magnitude(const Expr& x) {
  return x.type().kind == ir::TypeKind::UInt ? x : ir::math(MathFn::Abs, {x});
}
Expr square(const Expr& x) { return x * x; }
// Integers: towards zero, by way of f64.
Expr mean(const Expr& total, std::int64_t count) {
  if (total.type().is_float()) return total * imm(total.type(), 1.0 / static_cast<double>(count));
  return ir::cast(total.type(),
                  ir::cast(ir::kF64, total) / imm(ir::kF64, static_cast<double>(count)));
}
Expr in_floats(MathFn function, const Expr& x) {
  if (x.type().is_float()) return ir::math(function, {x});
  return ir::cast(x.type(), ir::math(function, {ir::cast(ir::kF64, x)}));
}
Expr root(const Expr& total, std::int64_t /*count*/) { return in_floats(MathFn::Sqrt, total); }
Expr logarithm(const Expr& total, std::int64_t /*count*/) { return in_floats(MathFn::Log, total); }

constexpr Meaning kSum{Reduction::Sum, itself, total_itself};
constexpr Meaning kMean{Reduction::Sum, itself, mean};
constexpr Meaning kProd{Reduction::Prod, itself, total_itself};
constexpr Meaning kMax{Reduction::Max, itself, total_itself};
constexpr Meaning kMin{Reduction::Min, itself, total_itself};
constexpr Meaning kL1{Reduction::Sum, magnitude, total_itself};
constexpr Meaning kL2{Reduction::Sum, square, root};
constexpr Meaning kSumSquare{Reduction::Sum, square, total_itself};
constexpr Meaning kLogSum{Reduction::Sum, itself, logarithm};

// Extremes are kept in the type itself, those of bools as numbers, sums in one that is wide enough.
ir::DType type_of(const Meaning& meaning, ir::DType type) {
  if (type.is_bool()) return ir::kU8;
  const bool sums = meaning.reduction == Reduction::Sum || meaning.reduction == Reduction::Prod;
  return sums ? sum_type(type) : computed_in(type);
}

template <const Meaning& meaning>
Result<ir::Buffer> reduce_stages(ir::Program& program, const OpCall& call,
                                 const std::vector<Read>& inputs) {
  const ReducedAxes axes(call.inputs[0].shape, call.integers("axes"),
                         call.integer("keepdims") != 0);
  const ir::DType wide = type_of(meaning, call.inputs[0].dtype);
  const Expr x = meaning.before(ir::cast(wide, inputs[0](axes.input_index())));
  const ir::Buffer total = ir::add_reduce(program, free_stage_name(program, "anchor"), axes.kept(),
                                          axes.reduced(), meaning.reduction, x);
  if (meaning.after == total_itself) return total;
  const Expr value = meaning.after(ir::load(total, axes.kept_index()), axes.count());
  return ir::add_compute(program, free_stage_name(program, "finish"), axes.kept(), value);
}

// max + log(sum(exp(x - max))).
Result<ir::Buffer> log_sum_exp_stages(ir::Program& program, const OpCall& call,
                                      const std::vector<Read>& inputs) {
  const ReducedAxes axes(call.inputs[0].shape, call.integers("axes"),
                         call.integer("keepdims") != 0);
  const ir::DType type = call.inputs[0].dtype;
  const ir::DType wide = type.is_float() ? computed_in(type) : ir::kF64;
  const Expr x = ir::cast(wide, inputs[0](axes.input_index()));
  const ir::Buffer greatest = ir::add_reduce(program, free_stage_name(program, "max"), axes.kept(),
                                             axes.reduced(), Reduction::Max, x);
  const auto base = [&](const std::vector<Expr>& index) {
    const Expr value = ir::load(greatest, index);
    return ir::select(ir::math(MathFn::IsInf, {value}), ir::zero_of(wide), value);
  };
  const Expr power = ir::math(MathFn::Exp, {x - base(axes.kept_index())});
  const ir::Buffer sum = ir::add_reduce(program, free_stage_name(program, "anchor"), axes.kept(),
                                        axes.reduced(), Reduction::Sum, power);
  const Expr value =
      ir::math(MathFn::Log, {ir::load(sum, axes.kept_index())}) + base(axes.kept_index());
  return ir::add_compute(program, free_stage_name(program, "finish"), axes.kept(), value);
}

Types infer_arg(const OpCall& call) {
  if (call.inputs[0].dtype.is_bool()) {
    return invalid(fmt::format("{} of {} has no meaning", call.name, to_string(call.inputs[0])));
  }
  ATTUNE_ASSIGN(TensorType type,
                reduced_type(call, {call.integer("axis")}, call.integer("keepdims") != 0));
  type.dtype = ir::kI64;
  return std::vector{type};
}

template <Reduction reduction>
Result<ir::Buffer> arg_stages(ir::Program& program, const OpCall& call,
                              const std::vector<Read>& inputs) {
  const ReducedAxes axes(call.inputs[0].shape, {call.integer("axis")},
                         call.integer("keepdims") != 0);
  std::vector<Expr> index = axes.input_index();
  Expr& place = index[static_cast<std::size_t>(call.integer("axis"))];
  const Expr step = place;
  // The first of equals wins; the last one, if the axis is walked backwards.
  const bool backwards = call.integer("select_last_index") != 0;
  if (backwards) place = ir::Expr(axes.count() - 1) - step;
  const auto buffers =
      ir::add_arg_reduce(program, free_stage_name(program, "anchor"), axes.kept(), axes.reduced(),
                         reduction, widened(inputs[0](index)), step);
  if (backwards) {
    return ir::add_compute(program, free_stage_name(program, "finish"), axes.kept(),
                           ir::Expr(axes.count() - 1) - ir::load(buffers[1], axes.kept_index()));
  }
  return buffers[1];
}

}  // namespace

std::vector<OpDef> reduction_operators() {
  constexpr auto kind = OpKind::Reduction;
  constexpr auto numbers = infer_reduce<TypeSet::Numbers>;
  constexpr auto any = infer_reduce<TypeSet::Any>;
  return {
      by_stages("reduce_sum", kind, numbers, reduce_stages<kSum>, {.zeros = Zeros::First}),
      by_stages("reduce_mean", kind, numbers, reduce_stages<kMean>, {.zeros = Zeros::First}),
      by_stages("reduce_prod", kind, numbers, reduce_stages<kProd>, {.zeros = Zeros::First}),
      by_stages("reduce_max", kind, any, reduce_stages<kMax>, {.zeros = Zeros::First}),
      by_stages("reduce_min", kind, any, reduce_stages<kMin>, {.zeros = Zeros::First}),
      by_stages("reduce_l1", kind, numbers, reduce_stages<kL1>, {.zeros = Zeros::First}),
      by_stages("reduce_l2", kind, numbers, reduce_stages<kL2>, {.zeros = Zeros::First}),
      by_stages("reduce_sum_square", kind, numbers, reduce_stages<kSumSquare>,
                {.zeros = Zeros::Square}),
      by_stages("reduce_log_sum", kind, numbers, reduce_stages<kLogSum>,
                {.zeros = Zeros::Sharpened}),
      by_stages("reduce_log_sum_exp", OpKind::Opaque, numbers, log_sum_exp_stages),
      // axis, keepdims, select_last_index
      by_stages("arg_max", kind, infer_arg, arg_stages<Reduction::ArgMax>),
      by_stages("arg_min", kind, infer_arg, arg_stages<Reduction::ArgMin>),
  };
}

}  // namespace attune::ops
