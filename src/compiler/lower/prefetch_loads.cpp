// A loop with the note `prefetch next` asks for what it will read later. Of a load in its body that
// moves on with some loop around, the panel loop, and is repeated by the loops between the two, the
// repetitions share the work: each step of the loop asks for its part of the cache lines that the
// same step reads in the next iteration of the panel loop. Loops inside of the repeated ones belong
// to the walk along the panel. Loads that nothing repeats are left to the hardware, which follows
// streams by itself.
#include <algorithm>
#include <optional>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/statement_passes.h"
#include "compiler/schedule/state.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kMostPerStep = 32;     // of a step that is written out many times over
constexpr std::int64_t kIntoSecondLevel = 2;  // locality: not into the smallest cache

struct Around {
  const ir::For* loop;
  std::int64_t extent;
};

// Loops around a statement, outermost first; those of unknown extent have extent 0.
using Surrounding = std::vector<Around>;

// Where the load is read from one panel further on, and how the repetitions number themselves.
struct Next {
  ir::Linear start;  // index of the first element that a step will read
  Expr repetition;
  std::int64_t repetitions = 1, step_bytes = 0;
};

std::optional<Next> next_of(const ir::Load& load, const ir::For& loop, const Surrounding& around) {
  const auto index = ir::linear_of(load.index[0]);
  if (!index) return {};
  Next next;
  next.repetition = Expr(0);
  std::int64_t panel = 0;
  for (std::size_t i = around.size(); i-- > 0;) {
    const std::int64_t coefficient = index->coefficient(around[i].loop->var);
    if (coefficient != 0) {
      // Before anything is repeated, this is still the walk along the panel.
      if (next.repetitions == 1) continue;
      panel = coefficient;
      break;
    }
    if (around[i].extent == 0) return {};
    // The innermost of the loops counts fastest.
    next.repetition = next.repetition +
                      (ir::var(around[i].loop->var) - around[i].loop->min) * Expr(next.repetitions);
    next.repetitions *= around[i].extent;
  }
  const std::int64_t step = index->coefficient(loop.var);
  if (panel <= 0 || step <= 0 || next.repetitions < 2) return {};
  next.step_bytes = step * load.buffer->type.element_bytes();
  next.start.constant = index->constant + panel;
  for (const auto& [name, coefficient] : index->terms) {
    const bool outside = std::any_of(around.begin(), around.end(),
                                     [&](const Around& a) { return a.loop->var == name; });
    if (outside || name == loop.var) next.start.terms.emplace_back(name, coefficient);
  }
  return next;
}

Stmt request(const ir::Buffer& buffer, const Next& next) {
  const std::int64_t lines = (next.step_bytes + kLineBytes - 1) / kLineBytes;
  const std::int64_t share = (lines + next.repetitions - 1) / next.repetitions;
  if (share > kMostPerStep) return {};
  const std::int64_t line = std::max<std::int64_t>(1, kLineBytes / buffer->type.element_bytes());
  std::vector<Stmt> requests;
  for (std::int64_t i = 0; i < share; ++i) {
    const Expr at =
        ir::simplify(next.start.to_expr() + next.repetition * Expr(share * line) + Expr(i * line));
    requests.push_back(ir::evaluate(ir::opaque(std::string(ir::kPrefetch), ir::kI32,
                                               {ir::load(buffer, {at}), Expr(kIntoSecondLevel)})));
  }
  return ir::block(std::move(requests));
}

// In front of the body of `loop`: one request for each buffer that it reads again and again.
Stmt with_requests(const ir::For& loop, const Surrounding& around) {
  std::vector<Stmt> stmts;
  std::vector<ir::Buffer> seen;
  ir::visit(
      loop.body, [](const Stmt&) {},
      [&](const Expr& e) {
        const auto* load = ir::as<ir::Load>(e);
        if (!load || load->buffer->scope != ir::Scope::Global) return;
        if (std::find(seen.begin(), seen.end(), load->buffer) != seen.end()) return;
        seen.push_back(load->buffer);
        const auto next = next_of(*load, loop, around);
        const Stmt asked = next ? request(load->buffer, *next) : Stmt();
        if (asked) stmts.push_back(asked);
      });
  stmts.push_back(loop.body);
  return ir::block(std::move(stmts));
}

Stmt visit_with(const Stmt& s, Surrounding& around) {
  const auto* loop = ir::as<ir::For>(s);
  if (!loop) {
    return ir::map_children(
        s, [&](const Stmt& child) { return visit_with(child, around); },
        [](const Expr& e) { return e; });
  }
  ir::For copy = *loop;
  if (schedule::find_note(loop->notes, "prefetch")) {
    copy.body = with_requests(*loop, around);
    return ir::make_stmt(std::move(copy));
  }
  const auto* extent = ir::as_int(loop->extent);
  around.push_back({loop, extent ? *extent : 0});
  copy.body = visit_with(loop->body, around);
  around.pop_back();
  return copy.body.same(loop->body) ? s : ir::make_stmt(std::move(copy));
}

}  // namespace

Stmt prefetch_loads(const Stmt& s) {
  Surrounding around;
  return visit_with(s, around);
}

}  // namespace attune::lower
