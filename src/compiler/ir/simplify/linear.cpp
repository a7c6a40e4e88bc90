#include "compiler/ir/simplify/linear.h"

namespace attune::ir {

std::int64_t Linear::coefficient(const std::string& name) const {
  for (const auto& [variable, coefficient] : terms) {
    if (variable == name) return coefficient;
  }
  return 0;
}

Expr Linear::to_expr() const {
  Expr sum;
  for (const auto& [name, coefficient] : terms) {
    Expr term = coefficient == 1 ? var(name) : var(name) * Expr(coefficient);
    sum = sum ? sum + term : term;
  }
  if (!sum) return Expr(constant);
  return constant == 0 ? sum : sum + Expr(constant);
}

Linear add(const Linear& a, const Linear& b, std::int64_t scale_b) {
  Linear sum;
  sum.constant = a.constant + b.constant * scale_b;
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->first < i->first) {
      if (scale_b != 0) sum.terms.emplace_back(j->first, j->second * scale_b);
      ++j;
    } else {
      const std::int64_t coefficient = i->second + j->second * scale_b;
      if (coefficient != 0) sum.terms.emplace_back(i->first, coefficient);
      ++i, ++j;
    }
  }
  return sum;
}

std::optional<Linear> linear_of(const Expr& e) {
  if (const auto* value = as_int(e)) return Linear{{}, *value};
  if (const auto* v = as<Var>(e)) return Linear{{{v->name, 1}}, 0};
  const auto* b = as<Binary>(e);
  if (!b || !(b->op == BinOp::Add || b->op == BinOp::Sub || b->op == BinOp::Mul)) return {};
  const auto lhs = linear_of(b->lhs);
  const auto rhs = lhs ? linear_of(b->rhs) : std::nullopt;
  if (!rhs) return {};
  if (b->op == BinOp::Add) return add(*lhs, *rhs);
  if (b->op == BinOp::Sub) return add(*lhs, *rhs, -1);
  if (lhs->terms.empty()) return add({}, *rhs, lhs->constant);
  if (rhs->terms.empty()) return add({}, *lhs, rhs->constant);
  return {};
}

}  // namespace attune::ir
