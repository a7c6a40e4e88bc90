// Comparisons, logic and choices.
#include <fmt/format.h>

#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::BinOp;
using ir::Expr;
using ir::MathFn;

Expr not_value(const OpCall& /*call*/, const Values& values) {
  return ir::math(MathFn::Not, {values[0]});
}

Expr is_nan_value(const OpCall& /*call*/, const Values& values) {
  return ir::math(MathFn::IsNan, {widened(values[0])});
}

Expr is_inf_value(const OpCall& call, const Values& values) {
  const Expr x = widened(values[0]);
  const Expr infinite = ir::math(MathFn::IsInf, {x});
  const bool negative = call.integer("detect_negative") != 0;
  const bool positive = call.integer("detect_positive") != 0;
  if (negative && positive) return infinite;
  if (!negative && !positive) return ir::bool_imm(false);
  return infinite && (negative ? x < ir::zero_of(x.type()) : x > ir::zero_of(x.type()));
}

Types infer_where(const OpCall& call) {
  if (!call.inputs[0].dtype.is_bool()) {
    return invalid(
        fmt::format("the condition of where is {}, must be bool", to_string(call.inputs[0])));
  }
  if (call.inputs[1].dtype != call.inputs[2].dtype) {
    return invalid(fmt::format("where of {} and {}, whose types differ", to_string(call.inputs[1]),
                               to_string(call.inputs[2])));
  }
  return broadcast_type(call, call.inputs[1].dtype);
}

Expr where_value(const OpCall& /*call*/, const Values& values) {
  return ir::select(values[0], values[1], values[2]);
}

// The bounds may be left out.
Expr clip_value(const OpCall& call, const Values& values) {
  const Values wide = widened(values);
  Expr result = wide[0];
  // In this order a NaN stays one, and the upper bound wins.
  if (call.has(1)) result = ir::max(wide[1], result);
  if (call.has(2)) result = ir::min(wide[2], result);
  return ir::cast(values[0].type(), result);
}

}  // namespace

std::vector<OpDef> comparison_operators() {
  constexpr auto any = infer_test<TypeSet::Any>;
  constexpr auto numbers = infer_test<TypeSet::Numbers>;
  constexpr auto floats = infer_test<TypeSet::Floats>;
  constexpr auto logic = infer_test<TypeSet::Bool>;
  return {
      elementwise("equal", any, of_two<BinOp::Eq>, {.zeros = Zeros::Comparison}),
      elementwise("less", numbers, of_two<BinOp::Lt>, {.zeros = Zeros::Comparison}),
      elementwise("less_or_equal", numbers, of_two<BinOp::Le>, {.zeros = Zeros::Comparison}),
      elementwise("greater", numbers, of_two<BinOp::Gt>, {.zeros = Zeros::Comparison}),
      elementwise("greater_or_equal", numbers, of_two<BinOp::Ge>, {.zeros = Zeros::Comparison}),
      elementwise("and", logic, of_two<BinOp::And>),
      elementwise("or", logic, of_two<BinOp::Or>),
      elementwise("xor", logic, of_two<BinOp::Ne>),
      elementwise("not", logic, not_value),
      elementwise("is_nan", floats, is_nan_value, {.host = "IsNaN"}),
      elementwise("is_inf", floats, is_inf_value),  // detect_negative, detect_positive
      elementwise("where", infer_where, where_value, {.zeros = Zeros::All, .narrow = true}),
      elementwise("clip", infer_alike<TypeSet::Numbers>, clip_value,
                  {.zeros = Zeros::Floor, .finite = true, .narrow = true}),
  };
}

}  // namespace attune::ops
