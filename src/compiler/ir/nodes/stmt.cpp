#include "compiler/ir/nodes/stmt.h"

#include <algorithm>

#include "base/check.h"
#include "base/match.h"

namespace attune::ir {

Stmt block(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (Stmt& s : stmts) {
    if (!s) continue;
    if (const auto* inner = as<Block>(s)) {
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    } else {
      flat.push_back(std::move(s));
    }
  }
  if (flat.size() == 1) return flat[0];
  return make_stmt(Block{std::move(flat)});
}

Stmt for_loop(std::string var, Expr min, Expr extent, Stmt body, LoopKind kind) {
  return make_stmt(
      For{std::move(var), std::move(min), std::move(extent), kind, {}, {}, std::move(body)});
}

Stmt store(Buffer buffer, std::vector<Expr> index, Expr value) {
  CHECK(buffer && index.size() == buffer->shape.size(), "a store needs one index per dimension");
  return make_stmt(Store{std::move(buffer), std::move(index), std::move(value)});
}

Stmt if_then(Expr condition, Stmt then_body, Stmt else_body) {
  CHECK(condition.type() == kBool, "the condition of an if is a scalar bool");
  return make_stmt(If{std::move(condition), std::move(then_body), std::move(else_body)});
}

Stmt allocate(Buffer buffer, Stmt body) {
  return make_stmt(Allocate{std::move(buffer), std::move(body)});
}

Stmt let(std::string var, Expr value, Stmt body) {
  return make_stmt(LetStmt{std::move(var), std::move(value), std::move(body)});
}

Stmt evaluate(Expr value) { return make_stmt(Evaluate{std::move(value)}); }

bool equal(const Stmt& a, const Stmt& b) {
  if (a.same(b)) return true;
  if (!a || !b || a->kind.index() != b->kind.index()) return false;
  return std::visit(
      Match{
          [&](const For& x) {
            const auto& y = *as<For>(b);
            return x.var == y.var && equal(x.min, y.min) && equal(x.extent, y.extent) &&
                   x.kind == y.kind && x.axis == y.axis && x.notes == y.notes &&
                   equal(x.body, y.body);
          },
          [&](const Store& x) {
            const auto& y = *as<Store>(b);
            return x.buffer == y.buffer && equal(x.value, y.value) &&
                   std::equal(x.index.begin(), x.index.end(), y.index.begin(), y.index.end(),
                              [](const Expr& p, const Expr& q) { return equal(p, q); });
          },
          [&](const Block& x) {
            const auto& y = *as<Block>(b);
            return std::equal(x.stmts.begin(), x.stmts.end(), y.stmts.begin(), y.stmts.end(),
                              [](const Stmt& p, const Stmt& q) { return equal(p, q); });
          },
          [&](const If& x) {
            const auto& y = *as<If>(b);
            return equal(x.condition, y.condition) && equal(x.then_body, y.then_body) &&
                   equal(x.else_body, y.else_body);
          },
          [&](const Allocate& x) {
            const auto& y = *as<Allocate>(b);
            return x.buffer == y.buffer && equal(x.body, y.body);
          },
          [&](const LetStmt& x) {
            const auto& y = *as<LetStmt>(b);
            return x.var == y.var && equal(x.value, y.value) && equal(x.body, y.body);
          },
          [&](const Evaluate& x) { return equal(x.value, as<Evaluate>(b)->value); },
          [&](const Barrier& x) { return x.scope == as<Barrier>(b)->scope; },
      },
      a->kind);
}

}  // namespace attune::ir
