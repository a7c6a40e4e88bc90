// Comparisons of index arithmetic, the logic of conditions, and what a condition teaches.
#include <cstdlib>

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

bool has_load(const Expr& e) {
  bool found = false;
  visit(e, [&](const Expr& node) { found |= as<Load>(node) != nullptr; });
  return found;
}

// left - right = form, both without negative coefficients; the constant is not in either.
void split_signs(const IndexSum& form, IndexSum& left, IndexSum& right) {
  for (const Term& term : form.terms) {
    if (term.coefficient > 0) {
      left.terms.push_back(term);
    } else {
      right.terms.push_back({term.atom, wrap_mul(term.coefficient, -1)});
    }
  }
}

BinOp opposite(BinOp op) {
  switch (op) {
    case BinOp::Eq:
      return BinOp::Ne;
    case BinOp::Ne:
      return BinOp::Eq;
    case BinOp::Lt:
      return BinOp::Ge;
    case BinOp::Ge:
      return BinOp::Lt;
    case BinOp::Gt:
      return BinOp::Le;
    default:
      return BinOp::Gt;
  }
}

// A comparison of whole numbers in i64.
const Binary* index_comparison(const Expr& e) {
  const auto* x = as<Binary>(e);
  return x && is_comparison(x->op) && x->lhs.type() == kIndex ? x : nullptr;
}

}  // namespace

Expr Simplifier::compare_zero(BinOp op, const IndexSum& form) const {
  if (op == BinOp::Eq || op == BinOp::Ne) return equal_zero(form, op == BinOp::Ne);
  IndexSum negative = form;
  if (op == BinOp::Gt || op == BinOp::Ge) {
    negative = {};
    negative.add(form, -1);
  }
  if (op == BinOp::Le || op == BinOp::Ge) negative.constant = wrap_sub(negative.constant, 1);
  return less_than_zero(negative);
}

Expr Simplifier::less_than_zero(const IndexSum& form) const {
  const Interval range = bounds(form);
  if (range.high < 0) return bool_imm(true);
  if (range.low >= 0) return bool_imm(false);
  // step * coarse + rest < 0 just when coarse < 0, for 0 <= rest < step
  if (const auto coarse = coarsen(form, 0)) return less_than_zero(coarse->coarse);
  IndexSum left, right;
  split_signs(form, left, right);
  std::int64_t constant = form.constant;
  if (constant == -1 && !right.is_constant()) return to_expr(left) <= to_expr(right);
  if (left.is_constant() || (constant > 0 && !right.is_constant())) {
    left.constant = constant;
  } else {
    right.constant = wrap_mul(constant, -1);
  }
  return to_expr(left) < to_expr(right);
}

Expr Simplifier::equal_zero(const IndexSum& form, bool negated) const {
  const Interval range = bounds(form);
  if (!range.contains(0)) return bool_imm(negated);
  if (range == Interval::point(0)) return bool_imm(!negated);
  IndexSum reduced = form;
  if (const std::int64_t content = form.content(); content > 1) {
    if (form.constant % content != 0) return bool_imm(negated);
    for (Term& term : reduced.terms) term.coefficient /= content;
    reduced.constant /= content;
  }
  IndexSum left, right;
  split_signs(reduced, left, right);
  if (left.is_constant()) std::swap(left, right), reduced.constant = wrap_mul(reduced.constant, -1);
  if (reduced.constant > 0 && !right.is_constant()) {
    left.constant = reduced.constant;
  } else {
    right.constant = wrap_mul(reduced.constant, -1);
  }
  return binary(negated ? BinOp::Ne : BinOp::Eq, to_expr(left), to_expr(right));
}

Expr Simplifier::logical_not(const Expr& condition) const {
  if (const auto* value = as_int(condition)) return bool_imm(*value == 0);
  if (const auto* x = as<Math>(condition); x && x->fn == MathFn::Not) return x->args[0];
  if (const auto* x = as<Binary>(condition); x && is_comparison(x->op)) {
    if (!x->lhs.type().is_float() || x->op == BinOp::Eq || x->op == BinOp::Ne) {
      return binary(opposite(x->op), x->lhs, x->rhs);
    }
  }
  return math(MathFn::Not, {condition});
}

// The constant a condition is known to be, or the condition.
Expr Simplifier::known(const Expr& condition) const {
  for (const auto* k = ranges_.known_.get(); k; k = k->next.get()) {
    if (equal(k->condition, condition)) return bool_imm(k->holds);
  }
  return condition;
}

// A scalar bool.
Expr Simplifier::condition(const Expr& e) const {
  if (const auto* x = as<Binary>(e)) {
    if (x->op == BinOp::And || x->op == BinOp::Or) return connective(*x);
    if (index_comparison(e)) {
      IndexSum difference = index(x->lhs);
      difference.add(index(x->rhs), -1);
      join_quotients(difference);
      return known(compare_zero(x->op, difference));
    }
    return known(scalar_binary(e));
  }
  if (const auto* x = as<Math>(e); x && x->fn == MathFn::Not) {
    const Expr inner = expr(x->args[0]);
    if (index_comparison(inner)) return expr(logical_not(inner));
    return known(logical_not(inner));
  }
  if (as<IntImm>(e)) return e;
  return known(as<Select>(e) ? scalar_select(e) : rebuild(e));
}

Expr Simplifier::connective(const Binary& x) const {
  const bool both = x.op == BinOp::And;
  const Expr a = condition(x.lhs);
  if (const auto* value = as_int(a)) {
    return (*value != 0) == both ? condition(x.rhs) : a;
  }
  // The right side matters only where the left does not decide; loads in it must stay guarded.
  Expr b;
  if (has_load(x.rhs)) {
    b = condition(x.rhs);
  } else {
    const Ranges there = both ? ranges_.assume(a) : ranges_.assume_not(a);
    b = Simplifier(there).condition(x.rhs);
  }
  if (const auto* value = as_int(b)) return (*value != 0) == both ? a : b;
  return equal(a, b) ? a : binary(x.op, a, b);
}

Ranges Ranges::assume(const Expr& condition) const {
  Ranges extended = *this;
  extended.learn(condition, true);
  return extended;
}

Ranges Ranges::assume_not(const Expr& condition) const {
  Ranges extended = *this;
  extended.learn(condition, false);
  return extended;
}

void Ranges::learn(const Expr& condition, bool holds) {
  CHECK(condition.type().is_bool(), "only conditions are learned");
  if (!condition.type().is_scalar() || as<IntImm>(condition)) return;
  if (const auto* x = as<Math>(condition); x && x->fn == MathFn::Not) {
    return learn(x->args[0], !holds);
  }
  const auto* x = as<Binary>(condition);
  if (x && x->op == (holds ? BinOp::And : BinOp::Or)) {
    learn(x->lhs, holds);
    return learn(x->rhs, holds);
  }
  if (!index_comparison(condition)) {
    known_ = std::make_shared<const Known>(Known{condition, holds, known_});
    return;
  }
  const BinOp op = holds ? x->op : opposite(x->op);
  const Simplifier simplifier(*this);
  IndexSum difference = simplifier.index(x->lhs);
  difference.add(simplifier.index(x->rhs), -1);
  switch (op) {
    case BinOp::Eq:
      return learn_bound(difference, Interval::point(0));
    case BinOp::Lt:
      return learn_bound(difference, {Interval::kLowest, -1});
    case BinOp::Le:
      return learn_bound(difference, {Interval::kLowest, 0});
    case BinOp::Gt:
      return learn_bound(difference, {1, Interval::kHighest});
    case BinOp::Ge:
      return learn_bound(difference, {0, Interval::kHighest});
    default:
      known_ = std::make_shared<const Known>(Known{condition, holds, known_});
  }
}

bool prove(const Expr& condition, const Ranges& ranges) {
  return is_const_int(Simplifier(ranges).expr(condition), 1);
}

}  // namespace attune::ir
