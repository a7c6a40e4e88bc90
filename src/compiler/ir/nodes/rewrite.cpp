#include "compiler/ir/nodes/rewrite.h"

#include "base/match.h"

namespace attune::ir {
namespace {

// Maps a list; sets `changed` when any element became another node.
std::vector<Expr> map_list(const std::vector<Expr>& list, const ExprFn& f, bool& changed) {
  std::vector<Expr> mapped;
  mapped.reserve(list.size());
  for (const Expr& e : list) {
    mapped.push_back(f(e));
    changed |= !mapped.back().same(e);
  }
  return mapped;
}

}  // namespace

Expr map_children(const Expr& e, const ExprFn& f) {
  return std::visit(Match{
                        [&](const IntImm&) { return e; },
                        [&](const FloatImm&) { return e; },
                        [&](const Var&) { return e; },
                        [&](const Binary& x) {
                          Expr a = f(x.lhs), b = f(x.rhs);
                          return a.same(x.lhs) && b.same(x.rhs) ? e : binary(x.op, a, b);
                        },
                        [&](const Math& x) {
                          bool changed = false;
                          auto args = map_list(x.args, f, changed);
                          if (!changed) return e;
                          if (x.fn == MathFn::Bitcast) {
                            return bitcast(e.type().with_lanes(args[0].type().lanes), args[0]);
                          }
                          return math(x.fn, std::move(args));
                        },
                        [&](const Select& x) {
                          Expr c = f(x.condition), a = f(x.if_true), b = f(x.if_false);
                          const bool kept =
                              c.same(x.condition) && a.same(x.if_true) && b.same(x.if_false);
                          return kept ? e : select(c, a, b);
                        },
                        [&](const Cast& x) {
                          Expr v = f(x.value);
                          return v.same(x.value) ? e : cast(e.type().with_lanes(v.type().lanes), v);
                        },
                        [&](const Load& x) {
                          bool changed = false;
                          auto index = map_list(x.index, f, changed);
                          return changed ? load(x.buffer, std::move(index)) : e;
                        },
                        [&](const Ramp& x) {
                          Expr base = f(x.base), stride = f(x.stride);
                          const bool kept = base.same(x.base) && stride.same(x.stride);
                          return kept ? e : ramp(base, stride, e.type().lanes);
                        },
                        [&](const Broadcast& x) {
                          Expr v = f(x.value);
                          return v.same(x.value) ? e : broadcast(v, e.type().lanes);
                        },
                        [&](const VectorReduce& x) {
                          Expr v = f(x.value);
                          return v.same(x.value) ? e : vector_reduce(x.op, v);
                        },
                        [&](const Opaque& x) {
                          bool changed = false;
                          auto args = map_list(x.args, f, changed);
                          return changed ? opaque(x.name, e.type(), std::move(args)) : e;
                        },
                    },
                    e->kind);
}

Stmt map_children(const Stmt& s, const StmtFn& f, const ExprFn& g) {
  return std::visit(Match{
                        [&](const For& x) {
                          Expr min = g(x.min), extent = g(x.extent);
                          Stmt body = f(x.body);
                          if (min.same(x.min) && extent.same(x.extent) && body.same(x.body))
                            return s;
                          For copy = x;
                          copy.min = min, copy.extent = extent, copy.body = body;
                          return make_stmt(std::move(copy));
                        },
                        [&](const Store& x) {
                          bool changed = false;
                          auto index = map_list(x.index, g, changed);
                          Expr value = g(x.value);
                          changed |= !value.same(x.value);
                          return changed ? store(x.buffer, std::move(index), value) : s;
                        },
                        [&](const Block& x) {
                          std::vector<Stmt> stmts;
                          bool changed = false;
                          for (const Stmt& child : x.stmts) {
                            stmts.push_back(f(child));
                            changed |= !stmts.back().same(child);
                          }
                          return changed ? block(std::move(stmts)) : s;
                        },
                        [&](const If& x) {
                          Expr condition = g(x.condition);
                          Stmt a = f(x.then_body), b = x.else_body ? f(x.else_body) : Stmt();
                          const bool kept = condition.same(x.condition) && a.same(x.then_body) &&
                                            b.same(x.else_body);
                          return kept ? s : if_then(condition, a, b);
                        },
                        [&](const Allocate& x) {
                          Stmt body = f(x.body);
                          return body.same(x.body) ? s : allocate(x.buffer, body);
                        },
                        [&](const LetStmt& x) {
                          Expr value = g(x.value);
                          Stmt body = f(x.body);
                          return value.same(x.value) && body.same(x.body) ? s
                                                                          : let(x.var, value, body);
                        },
                        [&](const Evaluate& x) {
                          Expr value = g(x.value);
                          return value.same(x.value) ? s : evaluate(value);
                        },
                        [&](const Barrier&) { return s; },
                    },
                    s->kind);
}

void visit(const Expr& e, const std::function<void(const Expr&)>& f) {
  f(e);
  const auto visit_all = [&](const std::vector<Expr>& list) {
    for (const Expr& child : list) visit(child, f);
  };
  std::visit(Match{
                 [](const IntImm&) {},
                 [](const FloatImm&) {},
                 [](const Var&) {},
                 [&](const Binary& x) { visit(x.lhs, f), visit(x.rhs, f); },
                 [&](const Math& x) { visit_all(x.args); },
                 [&](const Select& x) {
                   visit(x.condition, f), visit(x.if_true, f), visit(x.if_false, f);
                 },
                 [&](const Cast& x) { visit(x.value, f); },
                 [&](const Load& x) { visit_all(x.index); },
                 [&](const Ramp& x) { visit(x.base, f), visit(x.stride, f); },
                 [&](const Broadcast& x) { visit(x.value, f); },
                 [&](const VectorReduce& x) { visit(x.value, f); },
                 [&](const Opaque& x) { visit_all(x.args); },
             },
             e->kind);
}

void visit(const Stmt& s, const std::function<void(const Stmt&)>& f,
           const std::function<void(const Expr&)>& g) {
  f(s);
  map_children(
      s,
      [&](const Stmt& child) {
        visit(child, f, g);
        return child;
      },
      [&](const Expr& e) {
        visit(e, g);
        return e;
      });
}

Expr substitute(const Expr& e, const Bindings& bindings) {
  if (const auto* v = as<Var>(e)) {
    const auto found = bindings.find(v->name);
    return found == bindings.end() ? e : found->second;
  }
  return map_children(e, [&](const Expr& child) { return substitute(child, bindings); });
}

Stmt substitute(const Stmt& s, const Bindings& bindings) {
  return map_children(
      s, [&](const Stmt& child) { return substitute(child, bindings); },
      [&](const Expr& e) { return substitute(e, bindings); });
}

Expr replace_loads(const Expr& e, const Buffer& buffer,
                   const std::function<Expr(const std::vector<Expr>&)>& f) {
  Expr mapped = map_children(e, [&](const Expr& child) { return replace_loads(child, buffer, f); });
  const auto* l = as<Load>(mapped);
  return l && l->buffer == buffer ? f(l->index) : mapped;
}

bool uses_var(const Expr& e, const std::string& name) {
  bool found = false;
  visit(e, [&](const Expr& node) {
    const auto* v = as<Var>(node);
    found |= v && v->name == name;
  });
  return found;
}

std::set<std::string> free_vars(const Expr& e) {
  std::set<std::string> names;
  visit(e, [&](const Expr& node) {
    if (const auto* v = as<Var>(node)) names.insert(v->name);
  });
  return names;
}

}  // namespace attune::ir
