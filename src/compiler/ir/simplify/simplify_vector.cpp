// Vectors: ramps and broadcasts are kept as base + lane * stride as long as arithmetic allows.
#include "base/check.h"
#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

const Expr* broadcast_value(const Expr& e) {
  const auto* x = as<Broadcast>(e);
  return x ? &x->value : nullptr;
}

IndexSum difference_of(const IndexSum& a, const IndexSum& b) {
  IndexSum result = a;
  result.add(b, -1);
  return result;
}

IndexSum scaled(const IndexSum& a, std::int64_t factor) {
  IndexSum result;
  result.add(a, factor);
  return result;
}

}  // namespace

std::optional<Simplifier::Affine> Simplifier::affine_of(const Expr& e) const {
  if (e.type().element() != kIndex) return std::nullopt;
  if (const auto* x = as<Ramp>(e)) return Affine{sum_of(x->base), sum_of(x->stride)};
  if (const auto* x = as<Broadcast>(e)) return Affine{sum_of(x->value), {}};
  return std::nullopt;
}

Expr Simplifier::from_affine(const Affine& a, int lanes) const {
  const Expr base = to_expr(a.base);
  if (a.stride.is_constant() && a.stride.constant == 0) return broadcast(base, lanes);
  return ramp(base, to_expr(a.stride), lanes);
}

Expr Simplifier::vector(const Expr& e) const {
  const int lanes = e.type().lanes;
  if (const auto* x = as<Broadcast>(e)) {
    const Expr value = expr(x->value);
    return value.same(x->value) ? e : broadcast(value, lanes);
  }
  if (const auto* x = as<Ramp>(e)) {
    if (e.type().element() != kIndex) return rebuild(e);
    return from_affine({index(x->base), index(x->stride)}, lanes);
  }
  if (const auto* x = as<Binary>(e)) return vector_binary(*x, e);
  if (const auto* x = as<Load>(e)) return vector_load(*x, e);
  if (const auto* x = as<Cast>(e)) {
    const Expr value = expr(x->value);
    if (const Expr* scalar = broadcast_value(value)) {
      return broadcast(expr(cast(e.type().element(), *scalar)), lanes);
    }
    return value.same(x->value) ? e : cast(e.type(), value);
  }
  if (const auto* x = as<Select>(e)) {
    const Expr decided = expr(x->condition);
    const Expr* scalar = broadcast_value(decided);
    const auto* value = as_int(scalar ? *scalar : decided);
    if (value) return expr(*value ? x->if_true : x->if_false);
    Expr a = expr(x->if_true), b = expr(x->if_false);
    if (equal(a, b)) return a;
    const bool kept = decided.same(x->condition) && a.same(x->if_true) && b.same(x->if_false);
    return kept ? e : select(decided, a, b);
  }
  return rebuild(e);
}

Expr Simplifier::vector_load(const Load& x, const Expr& e) const {
  std::vector<Expr> index, scalars;
  bool same = true, uniform = true;
  for (const Expr& i : x.index) {
    index.push_back(expr(i));
    same &= index.back().same(i);
    const Expr* value = broadcast_value(index.back());
    uniform &= value || index.back().type().is_scalar();
    scalars.push_back(value ? *value : index.back());
  }
  if (uniform) return broadcast(load(x.buffer, std::move(scalars)), e.type().lanes);
  return same ? e : load(x.buffer, std::move(index));
}

Expr Simplifier::vector_binary(const Binary& x, const Expr& e) const {
  Expr a = expr(x.lhs), b = expr(x.rhs);
  const int lanes = e.type().lanes;
  const Expr* p = broadcast_value(a);
  const Expr* q = broadcast_value(b);
  if (p && q) return broadcast(expr(binary(x.op, *p, *q)), lanes);
  if (a.type().element() == kIndex) {
    const auto first = affine_of(a), second = affine_of(b);
    if (first && second) {
      if (Expr result = vector_index(x.op, *first, *second, lanes)) return result;
    }
  } else if (x.op == BinOp::And || x.op == BinOp::Or) {
    const bool both = x.op == BinOp::And;
    const auto* left = p ? as_int(*p) : nullptr;
    const auto* right = q ? as_int(*q) : nullptr;
    if (left) return (*left != 0) == both ? b : a;
    if (right) return (*right != 0) == both ? a : b;
    if (equal(a, b)) return a;
  }
  return a.same(x.lhs) && b.same(x.rhs) ? e : binary(x.op, a, b);
}

// Empty when the result is neither a ramp nor a broadcast.
Expr Simplifier::vector_index(BinOp op, const Affine& a, const Affine& b, int lanes) const {
  const bool a_uniform = a.stride.is_constant() && a.stride.constant == 0;
  const bool b_uniform = b.stride.is_constant() && b.stride.constant == 0;
  Affine sum = a;
  if (op == BinOp::Add || op == BinOp::Sub) {
    const std::int64_t sign = op == BinOp::Add ? 1 : -1;
    sum.base.add(b.base, sign);
    sum.stride.add(b.stride, sign);
    join_quotients(sum.base);
    return from_affine(sum, lanes);
  }
  if (op == BinOp::Mul) {
    const Affine& vector = b_uniform ? a : b;
    const Affine& factor = b_uniform ? b : a;
    if (!a_uniform && !b_uniform) return {};
    if (factor.base.is_constant()) {
      return from_affine(
          {scaled(vector.base, factor.base.constant), scaled(vector.stride, factor.base.constant)},
          lanes);
    }
    const Expr f = to_expr(factor.base);
    return from_affine({index(to_expr(vector.base) * f), index(to_expr(vector.stride) * f)}, lanes);
  }
  if (op == BinOp::Div || op == BinOp::Mod) {
    if (!b_uniform || !b.base.is_constant() || b.base.constant <= 0) return {};
    return vector_divide(op, a, b.base.constant, lanes);
  }
  const Affine difference{difference_of(a.base, b.base), difference_of(a.stride, b.stride)};
  const Interval range =
      bounds(difference.base) + bounds(difference.stride) * Interval::extent(lanes);
  if (op == BinOp::Min || op == BinOp::Max) {
    if (range.high <= 0) return from_affine(op == BinOp::Min ? a : b, lanes);
    if (range.low >= 0) return from_affine(op == BinOp::Min ? b : a, lanes);
    return {};
  }
  if (!is_comparison(op)) return {};
  if (difference.stride.is_constant() && difference.stride.constant == 0) {
    return broadcast(compare_zero(op, difference.base), lanes);
  }
  // Uniformly decided: the comparison of any value of the range.
  const Ranges ranges{{"lane", range}};
  IndexSum any;
  any.add(var("lane"), 1);
  const Expr decided = Simplifier(ranges).compare_zero(op, any);
  return as<IntImm>(decided) ? broadcast(decided, lanes) : Expr();
}

Expr Simplifier::vector_divide(BinOp op, const Affine& a, std::int64_t divisor, int lanes) const {
  if (!a.stride.is_constant()) return {};
  const std::int64_t stride = a.stride.constant;
  const IndexSum first = remainder(a.base, divisor);
  IndexSum step;
  if (stride % divisor == 0) {
    step.constant = stride / divisor;
    return op == BinOp::Div ? from_affine({quotient(a.base, divisor), step}, lanes)
                            : broadcast(to_expr(first), lanes);
  }
  const Interval range = bounds(first) + Interval::point(stride) * Interval::extent(lanes);
  if (range.low < 0 || range.high >= divisor) return {};
  if (op == BinOp::Div) return broadcast(to_expr(quotient(a.base, divisor)), lanes);
  step.constant = stride;
  return from_affine({first, step}, lanes);
}

}  // namespace attune::ir
