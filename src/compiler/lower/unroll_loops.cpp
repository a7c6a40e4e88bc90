// Unrolled loops with a constant extent are written out. There may be many copies, so each is only
// folded, not simplified: sub-expressions that became constant, and conditions that are decided.
// With the note `launder`, copies are separated by that intrinsic. A loop whose extent is not
// constant stays a serial loop.
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/statement_passes.h"
#include "compiler/schedule/state.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// substitute(), with decided conditions taken away. Constant index arithmetic folds by itself.
Expr fold(const Expr& e, const ir::Bindings& bindings) {
  if (const auto* v = ir::as<ir::Var>(e)) {
    const auto found = bindings.find(v->name);
    return found == bindings.end() ? e : found->second;
  }
  const Expr mapped = ir::map_children(e, [&](const Expr& c) { return fold(c, bindings); });
  if (mapped.same(e)) return e;
  if (const auto* select = ir::as<ir::Select>(mapped)) {
    const Expr condition = ir::simplify(select->condition);
    const auto* known = ir::as_int(condition);
    return known ? (*known ? select->if_true : select->if_false) : mapped;
  }
  return mapped;
}

Stmt fold(const Stmt& s, const ir::Bindings& bindings) {
  if (const auto* branch = ir::as<ir::If>(s)) {
    const Expr condition = ir::simplify(fold(branch->condition, bindings));
    if (const auto* known = ir::as_int(condition)) {
      const Stmt& taken = *known ? branch->then_body : branch->else_body;
      return taken ? fold(taken, bindings) : ir::block({});
    }
    return ir::if_then(condition, fold(branch->then_body, bindings),
                       branch->else_body ? fold(branch->else_body, bindings) : Stmt());
  }
  return ir::map_children(
      s, [&](const Stmt& child) { return fold(child, bindings); },
      [&](const Expr& e) { return fold(e, bindings); });
}

Stmt write_out(const ir::For& loop, std::int64_t min, std::int64_t extent) {
  const bool launder = schedule::find_note(loop.notes, "launder") != nullptr;
  std::vector<Stmt> copies;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (launder)
      copies.push_back(ir::evaluate(ir::opaque(std::string(ir::kLaunder), ir::kI32, {})));
    copies.push_back(fold(loop.body, {{loop.var, Expr(min + i)}}));
  }
  return ir::block(std::move(copies));
}

}  // namespace

Stmt unroll_loops(const Stmt& s) {
  if (const auto* loop = ir::as<ir::For>(s); loop && loop->kind == ir::LoopKind::Unrolled) {
    const auto* min = ir::as_int(loop->min);
    const auto* extent = ir::as_int(loop->extent);
    if (min && extent) return unroll_loops(write_out(*loop, *min, *extent));
    ir::For copy = *loop;
    copy.kind = ir::LoopKind::Serial;
    copy.body = unroll_loops(loop->body);
    return ir::make_stmt(std::move(copy));
  }
  return ir::map_children(
      s, [](const Stmt& child) { return unroll_loops(child); }, [](const Expr& e) { return e; });
}

}  // namespace attune::lower
