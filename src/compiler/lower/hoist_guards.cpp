// Bottom-up: a loop whose body is one `if` lets go of the parts of the condition that do not
// mention its variable. What guards several levels thus ends at the loop where it is decided, from
// where tighten_loops can take it into the range.
#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

Stmt hoist_from_loop(const ir::For& loop, const ir::If& inner) {
  std::vector<Expr> outside, inside;
  for (const Expr& part : conjuncts(inner.condition)) {
    (ir::uses_var(part, loop.var) || reads_memory(part) ? inside : outside).push_back(part);
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

bool contains(const std::vector<Expr>& parts, const Expr& wanted) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Expr& part) { return ir::equal(part, wanted); });
}

// if (c && a) x; if (c && b) y  ->  if (c) { if (a) x; if (b) y }
Stmt hoist_from_block(const ir::Block& block) {
  std::vector<Expr> shared;
  for (std::size_t i = 0; i < block.stmts.size(); ++i) {
    const auto* branch = ir::as<ir::If>(block.stmts[i]);
    if (!branch || branch->else_body) return {};
    const auto parts = conjuncts(branch->condition);
    if (i == 0) {
      shared = parts;
      std::erase_if(shared, reads_memory);
    } else {
      std::erase_if(shared, [&](const Expr& part) { return !contains(parts, part); });
    }
  }
  if (shared.empty()) return {};
  std::vector<Stmt> stmts;
  for (const Stmt& s : block.stmts) {
    const auto* branch = ir::as<ir::If>(s);
    std::vector<Expr> rest = conjuncts(branch->condition);
    std::erase_if(rest, [&](const Expr& part) { return contains(shared, part); });
    stmts.push_back(rest.empty() ? branch->then_body
                                 : ir::if_then(conjunction(rest), branch->then_body));
  }
  return ir::if_then(conjunction(shared), ir::block(std::move(stmts)));
}

Stmt merge_nested(const ir::If& outer) {
  const auto* inner = ir::as<ir::If>(outer.then_body);
  if (!inner || outer.else_body || inner->else_body || reads_memory(inner->condition)) return {};
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
  } else if (const auto* list = ir::as<ir::Block>(mapped)) {
    if (list->stmts.size() > 1) changed = hoist_from_block(*list);
  } else if (const auto* storage = ir::as<ir::Allocate>(mapped)) {
    const auto* inner = ir::as<ir::If>(storage->body);
    if (inner && !inner->else_body && !reads_memory(inner->condition)) {
      changed = ir::if_then(inner->condition, ir::allocate(storage->buffer, inner->then_body));
    }
  }
  return changed ? changed : mapped;
}

}  // namespace attune::lower
