// The loops that were fused into one are still there, as quotients and remainders of its variable.
// Those that conditions speak of get names, each a variable with a range of its own, so that the
// pass behind this one can tell where the conditions hold.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// A quotient or remainder of nothing but the variable and constants.
bool is_part(const Expr& e, const std::string& variable) {
  const auto* b = ir::as<ir::Binary>(e);
  if (!b || (b->op != ir::BinOp::Div && b->op != ir::BinOp::Mod) || !ir::as_int(b->rhs)) {
    return false;
  }
  const auto* inner = ir::as<ir::Var>(b->lhs);
  return inner ? inner->name == variable : is_part(b->lhs, variable);
}

// The largest ones that conditions mention, each once.
class PartFinder {
 public:
  explicit PartFinder(const std::string& variable) : variable_(variable) {}

  std::vector<Expr> find(const Stmt& body) {
    ir::visit(
        body,
        [&](const Stmt& s) {
          if (const auto* branch = ir::as<ir::If>(s)) add_parts(branch->condition);
        },
        [&](const Expr& e) {
          if (const auto* select = ir::as<ir::Select>(e)) add_parts(select->condition);
        });
    return parts_;
  }

 private:
  void add_parts(const Expr& e) {
    if (is_part(e, variable_)) {
      const auto same = [&](const Expr& known) { return ir::equal(known, e); };
      if (std::none_of(parts_.begin(), parts_.end(), same)) parts_.push_back(e);
      return;
    }
    ir::map_children(e, [&](const Expr& child) {
      add_parts(child);
      return child;
    });
  }

  const std::string& variable_;
  std::vector<Expr> parts_;
};

Expr replaced(const Expr& e, const Expr& part, const Expr& name) {
  if (ir::equal(e, part)) return name;
  return ir::map_children(e, [&](const Expr& child) { return replaced(child, part, name); });
}

Stmt replaced(const Stmt& s, const Expr& part, const Expr& name) {
  return ir::map_children(
      s, [&](const Stmt& child) { return replaced(child, part, name); },
      [&](const Expr& e) { return replaced(e, part, name); });
}

Stmt named(const ir::For& loop) {
  Stmt body = loop.body;
  const std::vector<Expr> parts = PartFinder(loop.var).find(body);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("{}_part{}", loop.var, i);
    body = ir::let(name, parts[i], replaced(body, parts[i], ir::var(name)));
  }
  ir::For copy = loop;
  copy.body = std::move(body);
  return ir::make_stmt(std::move(copy));
}

}  // namespace

Stmt name_parts(const Stmt& s) {
  const Stmt mapped = ir::map_children(
      s, [](const Stmt& child) { return name_parts(child); }, [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  const bool kept =
      loop && (loop->kind == ir::LoopKind::Parallel || loop->kind == ir::LoopKind::Serial);
  return kept && !PartFinder(loop->var).find(loop->body).empty() ? named(*loop) : mapped;
}

}  // namespace attune::lower
