// Arithmetic with broadcasting: sums, products, division, powers and bits.
#include <fmt/format.h>

#include <limits>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;

// Integers are divided towards zero.
Expr divide(const Expr& a, const Expr& b) {
  const Expr quotient = a / b;
  if (a.type().kind != ir::TypeKind::Int) return quotient;
  const Expr zero = ir::zero_of(a.type());
  const Expr rounded_down = ir::binary(ir::BinOp::Ne, quotient * b, a);
  const Expr negative = ir::binary(ir::BinOp::Ne, a < zero, b < zero);
  return ir::select(negative && rounded_down, quotient + imm(a.type(), 1), quotient);
}

Expr div_value(const OpCall& /*call*/, const Values& values) {
  return ir::cast(values[0].type(), divide(widened(values[0]), widened(values[1])));
}

// What is left of a beyond multiples of b, with the sign of a. Of an infinite b there are none.
Expr float_remainder(const Expr& a, const Expr& b) {
  const Expr infinite = imm(a.type(), std::numeric_limits<double>::infinity());
  const Expr quotient = ir::math(MathFn::Trunc, {a / b});
  const Expr rest = ir::math(MathFn::Fma, {ir::math(MathFn::Neg, {quotient}), b, a});
  const Expr is_whole = ir::math(MathFn::Abs, {b}) == infinite &&
                        ir::binary(ir::BinOp::Ne, ir::math(MathFn::Abs, {a}), infinite);
  return ir::select(is_whole, a, rest);
}

// fmod: the sign of the dividend, otherwise that of the divisor.
Expr mod_value(const OpCall& call, const Values& values) {
  const Expr a = widened(values[0]), b = widened(values[1]);
  const bool truncates = call.integer("fmod") != 0;
  if (!a.type().is_float()) return truncates ? a - divide(a, b) * b : a % b;
  const Expr rest = float_remainder(a, b), zero = imm(a.type(), 0);
  if (truncates) return ir::cast(values[0].type(), rest);
  const Expr differs = ir::binary(ir::BinOp::Ne, rest < zero, b < zero);
  const Expr nothing = ir::select(b < zero, imm(a.type(), -0.0), zero);
  return ir::cast(values[0].type(),
                  ir::select(rest == zero, nothing, ir::select(differs, rest + b, rest)));
}

Types infer_pow(const OpCall& call) {
  for (const TensorType& input : call.inputs) {
    if (!contains(TypeSet::Numbers, input.dtype)) {
      return invalid(fmt::format("pow of {}, needs numbers", to_string(input)));
    }
  }
  return broadcast_type(call, call.inputs[0].dtype);
}

// The type of the base decides. Powers of integers are computed in f64, and what is an integer but
// for its rounding is taken for one before the fraction is cut off.
Expr pow_value(const OpCall& /*call*/, const Values& values) {
  const ir::DType type = values[0].type();
  const ir::DType wide = type.is_float() ? computed_in(type) : ir::kF64;
  const Expr power = ir::math(MathFn::Pow, {ir::cast(wide, values[0]), ir::cast(wide, values[1])});
  if (type.is_float()) return ir::cast(type, power);
  const Expr nearest = ir::math(MathFn::Round, {power});
  const Expr distance = ir::math(MathFn::Abs, {power - nearest});
  const Expr close = distance <= ir::math(MathFn::Abs, {nearest}) * imm(wide, 1e-10);
  return ir::cast(type, ir::select(close, nearest, power));
}

// A NaN on either side stays one.
template <ir::BinOp op>
Expr extreme_value(const OpCall& /*call*/, const Values& values) {
  const Expr a = widened(values[0]), b = widened(values[1]);
  const Expr best = ir::binary(op, a, b);
  if (!a.type().is_float()) return best;
  return ir::cast(values[0].type(), ir::select(ir::math(MathFn::IsNan, {a}), a, best));
}

// Shifts by the width and more, or by negative numbers, leave nothing but what is shifted in.
Expr shift_value(const OpCall& call, const Values& values) {
  const auto op = call.word("direction") == "LEFT" ? ir::BinOp::Shl : ir::BinOp::Shr;
  return ir::binary(op, values[0], values[1]);
}

Expr reciprocal(const Expr& x) { return imm(x.type(), 1) / x; }

}  // namespace

std::vector<OpDef> arithmetic_operators() {
  constexpr auto numbers = infer_alike<TypeSet::Numbers>;
  constexpr auto floats = infer_alike<TypeSet::Floats>;
  constexpr auto integers = infer_alike<TypeSet::Integers>;
  return {
      elementwise("add", numbers, of_two<ir::BinOp::Add>,
                  {.zeros = Zeros::Sum,
                   .finite = true,
                   .narrow = true,
                   .commutative = true,
                   .operands = 2}),
      elementwise("sub", numbers, of_two<ir::BinOp::Sub>,
                  {.zeros = Zeros::Sum, .finite = true, .narrow = true, .operands = 2}),
      elementwise("mul", numbers, of_two<ir::BinOp::Mul>,
                  {.zeros = Zeros::Product,
                   .finite = true,
                   .narrow = true,
                   .commutative = true,
                   .operands = 2}),
      elementwise("div", numbers, div_value, {.zeros = Zeros::Quotient}),
      elementwise("mod", numbers, mod_value, {.zeros = Zeros::Remainder}),  // fmod
      elementwise("pow", infer_pow, pow_value, {.zeros = Zeros::Power}),
      elementwise("min", numbers, extreme_value<ir::BinOp::Min>,
                  {.zeros = Zeros::All, .finite = true, .narrow = true, .operands = 2}),
      elementwise("max", numbers, extreme_value<ir::BinOp::Max>,
                  {.zeros = Zeros::Floor, .finite = true, .narrow = true, .operands = 2}),
      elementwise("neg", numbers, of_math<MathFn::Neg>,
                  {.zeros = Zeros::First, .finite = true, .narrow = true, .operands = 1}),
      elementwise("abs", numbers, of_math<MathFn::Abs>,
                  {.zeros = Zeros::First,
                   .finite = true,
                   .never_negative = true,
                   .narrow = true,
                   .operands = 1}),
      elementwise("sign", numbers, of_math<MathFn::Sign>, {.zeros = Zeros::Sharpened}),
      elementwise("reciprocal", floats, of_one<reciprocal>, {.zeros = Zeros::Sharpened}),
      elementwise("bit_and", integers, of_two<ir::BinOp::BitAnd>, {.host = "BitwiseAnd"}),
      elementwise("bit_or", integers, of_two<ir::BinOp::BitOr>, {.host = "BitwiseOr"}),
      elementwise("bit_xor", integers, of_two<ir::BinOp::BitXor>, {.host = "BitwiseXor"}),
      elementwise("bit_not", integers, of_math<MathFn::BitNot>, {.host = "BitwiseNot"}),
      elementwise("bit_shift", integers, shift_value),  // direction
  };
}

}  // namespace attune::ops
