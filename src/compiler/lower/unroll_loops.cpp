// Unrolled loops with a constant extent are written out, innermost last, so that conditions and
// indices of each copy become constants. With the note `launder`, copies are separated by that
// intrinsic. A loop whose extent is not constant stays a serial loop.
#include "compiler/ir/intrinsics.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/simplify.h"
#include "compiler/lower/statement_passes.h"
#include "compiler/schedule/state.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

Stmt write_out(const ir::For& loop, std::int64_t min, std::int64_t extent) {
  const bool launder = schedule::find_note(loop.notes, "launder") != nullptr;
  std::vector<Stmt> copies;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (launder)
      copies.push_back(ir::evaluate(ir::opaque(std::string(ir::kLaunder), ir::kI32, {})));
    copies.push_back(ir::substitute(loop.body, {{loop.var, Expr(min + i)}}));
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
