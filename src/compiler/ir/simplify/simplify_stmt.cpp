// Simplification of statements: carries the ranges of loops, the values of lets and the conditions
// of ifs inwards.
#include "base/match.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

bool is_empty(const Stmt& s) {
  const auto* b = as<Block>(s);
  return !s || (b && b->stmts.empty());
}

Stmt nothing() { return make_stmt(Block{}); }

Stmt visit_stmt(const Stmt& s, const Ranges& ranges);

Stmt visit_loop(const For& x, const Stmt& s, const Ranges& ranges) {
  const Simplifier simplifier(ranges);
  const Expr min = simplifier.expr(x.min), extent = simplifier.expr(x.extent);
  if (simplifier.bounds(simplifier.index(extent)).high <= 0) return nothing();
  // Bound loops say how large a launch is, also where that is 1.
  if (is_const_int(extent, 1) && x.kind != LoopKind::Bound) {
    if (const auto* value = as_int(min)) {
      return visit_stmt(x.body, ranges.with(x.var, Interval::point(*value)));
    }
    return visit_stmt(substitute(x.body, {{x.var, min}}), ranges);
  }
  const Stmt body = visit_stmt(x.body, ranges.with_loop(x.var, min, extent));
  if (is_empty(body)) return nothing();
  if (min.same(x.min) && extent.same(x.extent) && body.same(x.body)) return s;
  return make_stmt(For{x.var, min, extent, x.kind, x.axis, x.notes, body});
}

Stmt visit_if(const If& x, const Stmt& s, const Ranges& ranges) {
  const Expr condition = Simplifier(ranges).expr(x.condition);
  if (const auto* value = as_int(condition)) {
    if (*value) return visit_stmt(x.then_body, ranges);
    return x.else_body ? visit_stmt(x.else_body, ranges) : nothing();
  }
  const Stmt yes = visit_stmt(x.then_body, ranges.assume(condition));
  Stmt no = x.else_body ? visit_stmt(x.else_body, ranges.assume_not(condition)) : Stmt();
  if (is_empty(no)) no = {};
  if (is_empty(yes)) {
    if (!no) return nothing();
    return if_then(Simplifier(ranges).expr(math(MathFn::Not, {condition})), no);
  }
  if (condition.same(x.condition) && yes.same(x.then_body) && no.same(x.else_body)) return s;
  return if_then(condition, yes, no);
}

Stmt visit_let(const LetStmt& x, const Stmt& s, const Ranges& ranges) {
  const Expr value = Simplifier(ranges).expr(x.value);
  if (as<IntImm>(value) || as<FloatImm>(value) || as<Var>(value)) {
    return visit_stmt(substitute(x.body, {{x.var, value}}), ranges);
  }
  Ranges inside = ranges;
  if (value.type() == kIndex) {
    inside = ranges.with(x.var, bounds_of(value, ranges)).assume(var(x.var) == value);
  }
  const Stmt body = visit_stmt(x.body, inside);
  if (is_empty(body)) return nothing();
  return value.same(x.value) && body.same(x.body) ? s : let(x.var, value, body);
}

Stmt visit_stmt(const Stmt& s, const Ranges& ranges) {
  return std::visit(Match{
                        [&](const For& x) { return visit_loop(x, s, ranges); },
                        [&](const If& x) { return visit_if(x, s, ranges); },
                        [&](const LetStmt& x) { return visit_let(x, s, ranges); },
                        [&](const Allocate& x) {
                          const Stmt body = visit_stmt(x.body, ranges);
                          if (is_empty(body)) return nothing();
                          return body.same(x.body) ? s : allocate(x.buffer, body);
                        },
                        [&](const auto&) {
                          return map_children(
                              s, [&](const Stmt& child) { return visit_stmt(child, ranges); },
                              [&](const Expr& e) { return Simplifier(ranges).expr(e); });
                        },
                    },
                    s->kind);
}

}  // namespace

Stmt simplify(const Stmt& s, const Ranges& ranges) { return visit_stmt(s, ranges); }

}  // namespace attune::ir
