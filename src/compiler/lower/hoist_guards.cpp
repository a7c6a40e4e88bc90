// Bottom-up: a loop whose body is one `if` lets go of the parts of the condition that do not
// mention its variable. What guards several levels thus ends at the loop where it is decided, from
// where tighten_loops can take it into the range.
#include "compiler/ir/rewrite.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

Stmt hoist_from_loop(const ir::For& loop, const ir::If& inner) {
  std::vector<Expr> outside, inside;
  for (const Expr& part : conjuncts(inner.condition)) {
    (ir::uses_var(part, loop.var) ? inside : outside).push_back(part);
  }
  const auto with_body = [&](Stmt body) {
    ir::For copy = loop;
    copy.body = std::move(body);
    return ir::make_stmt(std::move(copy));
  };
  if (outside.empty()) return {};
  if (inner.else_body) {
    if (!inside.empty()) return {};
    return ir::if_then(inner.condition, with_body(inner.then_body), with_body(inner.else_body));
  }
  const Expr rest = conjunction(inside);
  Stmt body = rest ? ir::if_then(rest, inner.then_body) : inner.then_body;
  return ir::if_then(conjunction(outside), with_body(body));
}

Stmt merge_nested(const ir::If& outer) {
  const auto* inner = ir::as<ir::If>(outer.then_body);
  if (!inner || outer.else_body || inner->else_body) return {};
  return ir::if_then(outer.condition && inner->condition, inner->then_body);
}

}  // namespace

Stmt hoist_guards(const Stmt& s) {
  const Stmt mapped = ir::map_children(
      s, [](const Stmt& child) { return hoist_guards(child); }, [](const Expr& e) { return e; });
  Stmt changed;
  if (const auto* loop = ir::as<ir::For>(mapped)) {
    const auto* inner = ir::as<ir::If>(loop->body);
    if (inner && loop->kind != ir::LoopKind::Parallel && loop->kind != ir::LoopKind::Bound) {
      changed = hoist_from_loop(*loop, *inner);
    }
  } else if (const auto* branch = ir::as<ir::If>(mapped)) {
    changed = merge_nested(*branch);
  } else if (const auto* storage = ir::as<ir::Allocate>(mapped)) {
    const auto* inner = ir::as<ir::If>(storage->body);
    if (inner && !inner->else_body) {
      changed = ir::if_then(inner->condition, ir::allocate(storage->buffer, inner->then_body));
    }
  }
  return changed ? changed : mapped;
}

}  // namespace attune::lower
