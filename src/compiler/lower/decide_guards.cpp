// Conditions that hold for all values of the loops around them, or for none, are taken away.
// Copies of an unrolled loop have such: what guards the last of them is sure for the first.
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Stmt;

Stmt decided(const Stmt& s, const ir::Ranges& ranges) {
  if (const auto* branch = ir::as<ir::If>(s)) {
    const ir::Expr condition = ir::simplify(branch->condition, ranges);
    if (const auto* known = ir::as_int(condition)) {
      const Stmt& taken = *known ? branch->then_body : branch->else_body;
      return taken ? decided(taken, ranges) : ir::block({});
    }
    return ir::if_then(condition, decided(branch->then_body, ranges.assume(condition)),
                       branch->else_body ? decided(branch->else_body, ranges) : Stmt());
  }
  const auto* loop = ir::as<ir::For>(s);
  const ir::Ranges inside = loop ? ranges.with_loop(loop->var, loop->min, loop->extent) : ranges;
  return ir::map_children(
      s, [&](const Stmt& child) { return decided(child, inside); },
      [](const ir::Expr& e) { return e; });
}

}  // namespace

Stmt decide_guards(const Stmt& s) { return decided(s, {}); }

}  // namespace attune::lower
