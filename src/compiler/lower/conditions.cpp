#include "compiler/lower/conditions.h"

#include "compiler/ir/nodes/rewrite.h"

namespace attune::lower {

std::vector<ir::Expr> conjuncts(const ir::Expr& condition) {
  const auto* both = ir::as<ir::Binary>(condition);
  if (!both || both->op != ir::BinOp::And) return {condition};
  auto parts = conjuncts(both->lhs);
  for (ir::Expr& part : conjuncts(both->rhs)) parts.push_back(std::move(part));
  return parts;
}

ir::Expr conjunction(const std::vector<ir::Expr>& conditions) {
  ir::Expr all;
  for (const ir::Expr& condition : conditions) all = all ? all && condition : condition;
  return all;
}

ir::Expr zero_unless(const std::vector<ir::Expr>& conditions, const ir::Expr& value) {
  if (conditions.empty()) return value;
  return ir::select(conjunction(conditions), value, ir::zero_of(value.type()));
}

bool reads_memory(const ir::Expr& condition) {
  bool found = false;
  ir::visit(condition, [&](const ir::Expr& node) { found |= ir::as<ir::Load>(node) != nullptr; });
  return found;
}

std::optional<ir::Linear> at_least_zero(const ir::Expr& condition) {
  const auto* comparison = ir::as<ir::Binary>(condition);
  if (!comparison || comparison->lhs.type() != ir::kIndex) return {};
  const auto lhs = ir::linear_of(comparison->lhs);
  const auto rhs = lhs ? ir::linear_of(comparison->rhs) : std::nullopt;
  if (!rhs) return {};
  switch (comparison->op) {
    case ir::BinOp::Lt:
    case ir::BinOp::Le: {
      ir::Linear form = ir::add(*rhs, *lhs, -1);
      form.constant -= comparison->op == ir::BinOp::Lt ? 1 : 0;
      return form;
    }
    case ir::BinOp::Gt:
    case ir::BinOp::Ge: {
      ir::Linear form = ir::add(*lhs, *rhs, -1);
      form.constant -= comparison->op == ir::BinOp::Gt ? 1 : 0;
      return form;
    }
    default:
      return {};
  }
}

}  // namespace attune::lower
