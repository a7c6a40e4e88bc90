#include "compiler/lower/reduction.h"

#include <limits>

#include "compiler/lower/conditions.h"
#include "compiler/schedule/extents.h"

namespace attune::lower {
namespace {

using ir::Expr;

// Takes conditions out of a term that is the neutral element when they fail: a select with the
// neutral element for any term, also as a factor of a product for sums. Padding becomes iterations
// that are skipped.
Expr take_guards(const Expr& value, ir::Reduction reduction, std::vector<Expr>& guards) {
  if (const auto* select = ir::as<ir::Select>(value)) {
    if (!ir::equal(select->if_false, ir::identity_of(reduction, value.type()))) return value;
    guards.push_back(select->condition);
    return take_guards(select->if_true, reduction, guards);
  }
  if (reduction != ir::Reduction::Sum) return value;
  if (const auto* product = ir::as<ir::Binary>(value); product && product->op == ir::BinOp::Mul) {
    Expr a = take_guards(product->lhs, reduction, guards);
    Expr b = take_guards(product->rhs, reduction, guards);
    return a.same(product->lhs) && b.same(product->rhs) ? value : a * b;
  }
  if (const auto* conversion = ir::as<ir::Cast>(value)) {
    Expr inner = take_guards(conversion->value, reduction, guards);
    return inner.same(conversion->value) ? value : ir::cast(value.type(), inner);
  }
  return value;
}

bool has_guards(const Expr& value, ir::Reduction reduction) {
  std::vector<Expr> guards;
  take_guards(value, reduction, guards);
  return !guards.empty();
}

// The better of two pairs, and of equals the one with the smaller index, whatever the loop order.
ir::Stmt pair_update(ir::Reduction reduction, const std::vector<ir::Buffer>& buffers,
                     const std::vector<Expr>& index, const std::vector<Expr>& values) {
  const Expr best = ir::load(buffers[0], index), at = ir::load(buffers[1], index);
  const auto op = reduction == ir::Reduction::ArgMax ? ir::BinOp::Gt : ir::BinOp::Lt;
  const Expr better = ir::binary(op, values[0], best) || (values[0] == best && values[1] < at);
  return ir::block({ir::store(buffers[1], index, ir::select(better, values[1], at)),
                    ir::store(buffers[0], index, ir::select(better, values[0], best))});
}

}  // namespace

bool starts_by_itself(const schedule::StageState& stage) {
  if (stage.stage.reduction == ir::Reduction::None) return true;
  if (!schedule::find_note(stage.notes, "init")) return false;
  if (stage.stage.reduction >= ir::Reduction::ArgMax) return false;
  for (const auto& relation : stage.relations) {
    const auto* split = std::get_if<schedule::SplitRelation>(&relation);
    if (split && stage.iters[split->parent].reduce) return false;
  }
  return !has_guards(stage.stage.values[0], stage.stage.reduction);
}

UpdateParts make_update(ir::Reduction reduction, const std::vector<ir::Buffer>& buffers,
                        const std::vector<Expr>& index, const std::vector<Expr>& values,
                        const std::vector<Expr>* first_when_zero) {
  if (reduction == ir::Reduction::None) return {ir::store(buffers[0], index, values[0]), {}};
  if (reduction >= ir::Reduction::ArgMax) {
    return {pair_update(reduction, buffers, index, values), {}};
  }
  UpdateParts parts;
  const Expr term = take_guards(values[0], reduction, parts.guards);
  const Expr sum = ir::combine(reduction, ir::load(buffers[0], index), term);
  parts.body = ir::store(buffers[0], index, sum);
  if (first_when_zero) {
    Expr first = ir::bool_imm(true);
    for (const Expr& variable : *first_when_zero) first = first && variable == Expr(0);
    parts.body = ir::if_then(first, ir::store(buffers[0], index, term), parts.body);
  }
  return parts;
}

Expr initial_value(ir::Reduction reduction, ir::DType type, bool carried) {
  return carried ? ir::identity_of(ir::Reduction::Min, type) : ir::identity_of(reduction, type);
}

ir::Stmt guarded(const std::vector<Expr>& conditions, ir::Stmt body) {
  std::vector<Expr> plain;
  for (std::size_t i = conditions.size(); i-- > 0;) {
    if (!reads_memory(conditions[i])) {
      plain.insert(plain.begin(), conditions[i]);
    } else {
      body = ir::if_then(conditions[i], std::move(body));
    }
  }
  return plain.empty() ? body : ir::if_then(conjunction(plain), std::move(body));
}

}  // namespace attune::lower
