// Sums, products, minima and selections of index arithmetic.
#include <utility>

#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {

IndexSum Simplifier::index(const Expr& e) const {
  IndexSum form;
  accumulate(e, 1, form);
  join_quotients(form);
  return form;
}

// Adds factor * e to `out`, so that a sum is gathered in one form however it is nested.
void Simplifier::accumulate(const Expr& e, std::int64_t factor, IndexSum& out) const {
  if (const auto* x = as<IntImm>(e)) {
    out.constant = wrap_add(out.constant, wrap_mul(factor, x->value));
  } else if (const auto* v = as<Var>(e)) {
    const Interval range = ranges_.of(v->name);
    if (range.is_point()) {
      out.constant = wrap_add(out.constant, wrap_mul(factor, range.low));
    } else {
      out.add(e, factor);
    }
  } else if (as<Binary>(e)) {
    accumulate_binary(e, factor, out);
  } else if (const auto* s = as<Select>(e)) {
    accumulate_select(*s, factor, out);
  } else {
    const auto* m = as<Math>(e);
    if (m && m->fn == MathFn::Neg) return accumulate(m->args[0], wrap_mul(factor, -1), out);
    const Expr atom = rebuild(e);
    if (const auto* value = as_int(atom)) {
      out.constant = wrap_add(out.constant, wrap_mul(factor, *value));
    } else {
      out.add(atom, factor);
    }
  }
}

void Simplifier::accumulate_binary(const Expr& e, std::int64_t factor, IndexSum& out) const {
  const auto& x = *as<Binary>(e);
  switch (x.op) {
    case BinOp::Add:
      accumulate(x.lhs, factor, out);
      return accumulate(x.rhs, factor, out);
    case BinOp::Sub:
      accumulate(x.lhs, factor, out);
      return accumulate(x.rhs, wrap_mul(factor, -1), out);
    case BinOp::Mul: {
      if (const auto* c = as_int(x.rhs)) return accumulate(x.lhs, wrap_mul(factor, *c), out);
      if (const auto* c = as_int(x.lhs)) return accumulate(x.rhs, wrap_mul(factor, *c), out);
      IndexSum a = index(x.lhs), b = index(x.rhs);
      if (a.is_constant()) return out.add(b, wrap_mul(factor, a.constant));
      if (b.is_constant()) return out.add(a, wrap_mul(factor, b.constant));
      Expr first = to_expr(a), second = to_expr(b);
      if (compare(second, first) < 0) std::swap(first, second);
      return out.add(first * second, factor);
    }
    case BinOp::Div:
    case BinOp::Mod:
      return out.add(divide(x.op, index(x.lhs), index(x.rhs)), factor);
    case BinOp::Min:
    case BinOp::Max:
      return accumulate_extremum(x, factor, out);
    case BinOp::Shl:
    case BinOp::Shr: {
      const IndexSum amount = index(x.rhs);
      if (amount.is_constant() && amount.constant >= 0 && amount.constant < 62) {
        const std::int64_t power = std::int64_t{1} << amount.constant;
        if (x.op == BinOp::Shl) return accumulate(x.lhs, wrap_mul(factor, power), out);
        return out.add(quotient(index(x.lhs), power), factor);
      }
      return out.add(binary(x.op, to_expr(index(x.lhs)), to_expr(amount)), factor);
    }
    default: {
      const Expr a = to_expr(index(x.lhs)), b = to_expr(index(x.rhs));
      return out.add(binary(x.op, a, b), factor);
    }
  }
}

IndexSum Simplifier::divide(BinOp op, const IndexSum& a, const IndexSum& b) const {
  IndexSum result;
  if (b.is_constant()) {
    if (b.constant != 0 && b.constant != Interval::kLowest) {
      return op == BinOp::Div ? quotient(a, b.constant) : remainder(a, b.constant);
    }
  } else if (const Interval divisor = bounds(b); divisor.low > 0) {
    const Interval range = bounds(a);
    if (range.low >= 0 && range.high < divisor.low) return op == BinOp::Div ? result : a;
    if (a == b) {
      result.constant = op == BinOp::Div ? 1 : 0;
      return result;
    }
  }
  result.add(binary(op, to_expr(a), to_expr(b)), 1);
  return result;
}

void Simplifier::accumulate_extremum(const Binary& x, std::int64_t factor, IndexSum& out) const {
  IndexSum a = index(x.lhs), b = index(x.rhs);
  IndexSum difference = a;
  difference.add(b, -1);
  const Interval range = bounds(difference);
  const bool minimum = x.op == BinOp::Min;
  if (range.high <= 0) return out.add(minimum ? a : b, factor);
  if (range.low >= 0) return out.add(minimum ? b : a, factor);
  // min(c + p, c + q) = c + min(p, q): what both sides have in common moves out.
  IndexSum common;
  for (const Term& term : a.terms) {
    if (b.coefficient_of(term.atom) == term.coefficient) common.terms.push_back(term);
  }
  if (!common.terms.empty()) {
    a.add(common, -1);
    b.add(common, -1);
    out.add(common, factor);
  }
  Expr first = to_expr(a), second = to_expr(b);
  if (compare(second, first) < 0) std::swap(first, second);
  out.add(binary(x.op, first, second), factor);
}

void Simplifier::accumulate_select(const Select& x, std::int64_t factor, IndexSum& out) const {
  const Expr decided = expr(x.condition);
  if (const auto* value = as_int(decided)) {
    return accumulate(*value ? x.if_true : x.if_false, factor, out);
  }
  const Ranges when_true = ranges_.assume(decided), when_false = ranges_.assume_not(decided);
  const IndexSum a = Simplifier(when_true).index(x.if_true);
  const IndexSum b = Simplifier(when_false).index(x.if_false);
  if (a == b) return out.add(a, factor);
  out.add(select(decided, to_expr(a), to_expr(b)), factor);
}

}  // namespace attune::ir
