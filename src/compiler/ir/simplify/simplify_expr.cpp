// Dispatch by type, and the rules for integers that are not indices and for floats.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

Expr fold_ints(BinOp op, std::int64_t a, std::int64_t b, DType type) {
  if ((op == BinOp::Div || op == BinOp::Mod) && b == 0) return {};
  // The bits of large u64 numbers would be taken for negative ones.
  if (type == kU64 && (a < 0 || b < 0)) return {};
  // The builder folds 64-bit constants; narrower ones give the same values, wrapped.
  const Expr wide = binary(op, int_imm(a), int_imm(b));
  const auto* value = as_int(wide);
  if (!value) return {};
  return is_comparison(op) ? wide : int_imm(wrap_to(type, *value), type);
}

template <typename Float>
Expr fold_floats(BinOp op, Float a, Float b, DType type) {
  switch (op) {
    case BinOp::Add:
      return float_imm(a + b, type);
    case BinOp::Sub:
      return float_imm(a - b, type);
    case BinOp::Mul:
      return float_imm(a * b, type);
    case BinOp::Div:
      return float_imm(a / b, type);
    case BinOp::Eq:
      return bool_imm(a == b);
    case BinOp::Ne:
      return bool_imm(a != b);
    case BinOp::Lt:
      return bool_imm(a < b);
    case BinOp::Le:
      return bool_imm(a <= b);
    case BinOp::Gt:
      return bool_imm(a > b);
    case BinOp::Ge:
      return bool_imm(a >= b);
    default:
      return {};
  }
}

Expr fold_constants(BinOp op, const Expr& a, const Expr& b) {
  const auto* p = as_int(a);
  const auto* q = as_int(b);
  if (p && q) return fold_ints(op, *p, *q, a.type());
  const auto* x = as<FloatImm>(a);
  const auto* y = as<FloatImm>(b);
  if (!x || !y) return {};
  if (a.type() == kF64) return fold_floats(op, x->value, y->value, kF64);
  if (a.type() != kF32) return {};
  return fold_floats(op, static_cast<float>(x->value), static_cast<float>(y->value), kF32);
}

bool is_float(const Expr& e, double value) {
  const auto* x = as<FloatImm>(e);
  return x && x->value == value && std::signbit(x->value) == std::signbit(value);
}

// x op b where b is neutral, exactly.
bool is_right_neutral(BinOp op, const Expr& b) {
  if (!b.type().is_float()) {
    if (op == BinOp::Mul || op == BinOp::Div) return is_const_int(b, 1);
    const bool sum = op == BinOp::Add || op == BinOp::Sub || op == BinOp::BitOr ||
                     op == BinOp::BitXor || op == BinOp::Shl || op == BinOp::Shr;
    return sum && is_const_int(b, 0);
  }
  if (op == BinOp::Mul || op == BinOp::Div) return is_float(b, 1.0);
  return (op == BinOp::Sub && is_float(b, 0.0)) || (op == BinOp::Add && is_float(b, -0.0));
}

bool commutes(BinOp op) { return op == BinOp::Add || op == BinOp::Mul; }

Expr fold_cast(const Expr& value, DType type) {
  if (const auto* x = as_int(value)) {
    if (!type.is_float()) return int_imm(wrap_to(type, *x), type);
    if (value.type() == kU64 && *x < 0) return {};
    if (type == kF64) return float_imm(static_cast<double>(*x), type);
    if (type == kF32) return float_imm(static_cast<float>(*x), type);
  }
  if (const auto* x = as<FloatImm>(value); x && value.type() == kF32 && type == kF64) {
    return float_imm(static_cast<float>(x->value), type);
  }
  return {};
}

}  // namespace

Expr Simplifier::expr(const Expr& e) const {
  if (as<FloatImm>(e) || as<IntImm>(e)) return e;
  if (!e.type().is_scalar()) return vector(e);
  if (e.type() == kIndex) {
    const Expr result = to_expr(index(e));
    return equal(result, e) ? e : result;
  }
  if (e.type().is_bool()) {
    const Expr result = condition(e);
    return equal(result, e) ? e : result;
  }
  if (as<Binary>(e)) return scalar_binary(e);
  if (as<Select>(e)) return scalar_select(e);
  return rebuild(e);
}

Expr Simplifier::scalar_select(const Expr& e) const {
  const auto& x = *as<Select>(e);
  const Expr decided = expr(x.condition);
  if (const auto* value = as_int(decided)) return expr(*value ? x.if_true : x.if_false);
  const Ranges when_true = ranges_.assume(decided), when_false = ranges_.assume_not(decided);
  Expr a = Simplifier(when_true).expr(x.if_true);
  const Expr b = Simplifier(when_false).expr(x.if_false);
  if (equal(a, b)) return a;
  const bool kept = decided.same(x.condition) && a.same(x.if_true) && b.same(x.if_false);
  return kept ? e : select(decided, a, b);
}

Expr Simplifier::rebuild(const Expr& e) const {
  Expr result = map_children(e, [this](const Expr& child) { return expr(child); });
  if (const auto* x = as<Cast>(result)) {
    if (Expr folded = fold_cast(x->value, e.type())) return folded;
  }
  if (const auto* x = as<VectorReduce>(result)) {
    const auto* uniform = as<Broadcast>(x->value);
    if (uniform && (x->op == BinOp::Min || x->op == BinOp::Max)) return uniform->value;
  }
  return result;
}

Expr Simplifier::scalar_binary(const Expr& e) const {
  const auto& x = *as<Binary>(e);
  Expr a = expr(x.lhs), b = expr(x.rhs);
  if (Expr folded = fold_constants(x.op, a, b)) return folded;
  if (is_right_neutral(x.op, b)) return a;
  if (commutes(x.op) && is_right_neutral(x.op, a)) return b;
  const bool exact = !a.type().is_float();
  if (exact && x.op == BinOp::Mul) {
    if (is_const_int(a, 0)) return a;
    if (is_const_int(b, 0)) return b;
  }
  if ((x.op == BinOp::Min || x.op == BinOp::Max) && equal(a, b)) return a;
  return a.same(x.lhs) && b.same(x.rhs) ? e : binary(x.op, a, b);
}

Expr simplify(const Expr& e, const Ranges& ranges) {
  CHECK(e, "simplify of an empty expression");
  return Simplifier(ranges).expr(e);
}

}  // namespace attune::ir
