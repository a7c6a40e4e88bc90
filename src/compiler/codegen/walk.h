// Visits expressions and statements without rebuilding anything: code generation looks at every
// node of large unrolled kernels several times.
#pragma once

#include "base/match.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::codegen {

// Calls f(e) for e and everything below it, outside first.
template <typename F>
void walk(const ir::Expr& e, const F& f) {
  f(e);
  const auto each = [&](const std::vector<ir::Expr>& list) {
    for (const ir::Expr& child : list) walk(child, f);
  };
  std::visit(Match{
                 [](const ir::IntImm&) {},
                 [](const ir::FloatImm&) {},
                 [](const ir::Var&) {},
                 [&](const ir::Binary& x) {
                   walk(x.lhs, f);
                   walk(x.rhs, f);
                 },
                 [&](const ir::Math& x) { each(x.args); },
                 [&](const ir::Select& x) {
                   walk(x.condition, f);
                   walk(x.if_true, f);
                   walk(x.if_false, f);
                 },
                 [&](const ir::Cast& x) { walk(x.value, f); },
                 [&](const ir::Load& x) { each(x.index); },
                 [&](const ir::Ramp& x) {
                   walk(x.base, f);
                   walk(x.stride, f);
                 },
                 [&](const ir::Broadcast& x) { walk(x.value, f); },
                 [&](const ir::VectorReduce& x) { walk(x.value, f); },
                 [&](const ir::Opaque& x) { each(x.args); },
             },
             e->kind);
}

// Calls f(child) for the statements directly below s, and g(e) for the expressions it holds itself.
template <typename F, typename G>
void for_each_child(const ir::Stmt& s, const F& f, const G& g) {
  std::visit(Match{
                 [&](const ir::For& x) {
                   g(x.min);
                   g(x.extent);
                   f(x.body);
                 },
                 [&](const ir::Store& x) {
                   for (const ir::Expr& index : x.index) g(index);
                   g(x.value);
                 },
                 [&](const ir::Block& x) {
                   for (const ir::Stmt& child : x.stmts) f(child);
                 },
                 [&](const ir::If& x) {
                   g(x.condition);
                   f(x.then_body);
                   if (x.else_body) f(x.else_body);
                 },
                 [&](const ir::Allocate& x) { f(x.body); },
                 [&](const ir::LetStmt& x) {
                   g(x.value);
                   f(x.body);
                 },
                 [&](const ir::Evaluate& x) { g(x.value); },
                 [](const ir::Barrier&) {},
             },
             s->kind);
}

// Calls f for s and all statements below it, and g for all expressions in them, outside first.
template <typename F, typename G>
void walk(const ir::Stmt& s, const F& f, const G& g) {
  f(s);
  for_each_child(
      s, [&](const ir::Stmt& child) { walk(child, f, g); }, [&](const ir::Expr& e) { walk(e, g); });
}

}  // namespace attune::codegen
