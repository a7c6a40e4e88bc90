// for v in [min, end): if (k*v + r >= 0 and …) body, with r free of v, runs only for v >= -r/k (or
// <= for negative k): the range shrinks and the condition goes. Serial loops take symbolic bounds;
// unrolled and vectorised ones only constants, because their extent must stay known.
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

struct Range {
  Expr min, end;
};

// The range after the condition, or nothing.
std::optional<Range> tightened(const Range& range, const std::string& variable,
                               const Expr& condition) {
  auto form = at_least_zero(condition);
  if (!form) return {};
  const std::int64_t k = form->coefficient(variable);
  if (k == 0) return {};
  const ir::Linear rest = ir::add(*form, {{{variable, 1}}, 0}, -k);
  const Expr r = rest.to_expr();
  if (k > 0) {  // v >= ceil(-r / k)
    const Expr low = (Expr(k - 1) - r) / Expr(k);
    return Range{ir::simplify(ir::max(range.min, low)), range.end};
  }
  const Expr end = r / Expr(-k) + Expr(1);  // v <= floor(r / -k)
  return Range{range.min, ir::simplify(ir::min(range.end, end))};
}

Stmt tighten(const ir::For& loop, const ir::If& inner) {
  Range range{loop.min, ir::simplify(loop.min + loop.extent)};
  std::vector<Expr> kept;
  const bool needs_constants = loop.kind != ir::LoopKind::Serial;
  for (const Expr& part : conjuncts(inner.condition)) {
    const auto next = tightened(range, loop.var, part);
    const bool constant = next && ir::as_int(next->min) && ir::as_int(next->end);
    if (next && (constant || !needs_constants)) {
      range = *next;
    } else {
      kept.push_back(part);
    }
  }
  if (kept.size() == conjuncts(inner.condition).size()) return {};
  ir::For copy = loop;
  copy.min = range.min;
  copy.extent = ir::simplify(range.end - range.min);
  copy.body = kept.empty() ? inner.then_body : ir::if_then(conjunction(kept), inner.then_body);
  return ir::make_stmt(std::move(copy));
}

}  // namespace

Stmt tighten_loops(const Stmt& s) {
  const Stmt mapped = ir::map_children(
      s, [](const Stmt& child) { return tighten_loops(child); }, [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  const auto* inner = loop ? ir::as<ir::If>(loop->body) : nullptr;
  if (!inner || inner->else_body || loop->kind == ir::LoopKind::Parallel ||
      loop->kind == ir::LoopKind::Bound) {
    return mapped;
  }
  const Stmt changed = tighten(*loop, *inner);
  return changed ? changed : mapped;
}

}  // namespace attune::lower
