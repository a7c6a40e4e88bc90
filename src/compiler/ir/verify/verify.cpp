#include "compiler/ir/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/names.h"
#include "compiler/ir/text/print.h"
#include "compiler/ir/verify/verify_expr.h"

namespace attune::ir {
namespace {

// Checks with what is in scope; the first failure is kept.
class Verifier {
 public:
  void add_buffer(const Buffer& buffer);
  void drop_buffer() { buffers_.pop_back(); }
  void add_variable(const std::string& name, DType type);
  void drop_variable() { variables_.pop_back(); }
  void expr(const Expr& e);
  void stmt(const Stmt& s);
  void require(bool holds, const char* violated, const std::string& text) {
    if (!holds && status_.ok()) status_ = invalid(fmt::format("{}: '{}'", violated, text));
  }
  const Status& status() const { return status_; }

 private:
  void loop(const For& x);
  void store(const Store& x);
  void access(const Buffer& buffer, const std::string& text);
  void keep(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  std::vector<std::pair<std::string, DType>> variables_;
  std::vector<const BufferNode*> buffers_;
  int bound_loops_ = 0;
  Status status_;
};

void Verifier::add_buffer(const Buffer& buffer) {
  keep(verify_buffer(*buffer));
  for (const BufferNode* other : buffers_) {
    require(other->name != buffer->name, "two buffers of one name", buffer->name);
  }
  buffers_.push_back(buffer.get());
}

void Verifier::add_variable(const std::string& name, DType type) {
  for (const auto& variable : variables_) {
    require(variable.first != name, "a variable inside of another of the same name", name);
  }
  variables_.emplace_back(name, type);
}

void Verifier::access(const Buffer& buffer, const std::string& text) {
  const bool found = std::find(buffers_.begin(), buffers_.end(), buffer.get()) != buffers_.end();
  require(found, "a buffer that does not exist here", buffer->name + "' in '" + text);
}

void Verifier::expr(const Expr& e) {
  if (!status_.ok()) return;
  if (!e) return require(false, "a missing expression", "");
  map_children(e, [&](const Expr& child) {
    expr(child);
    return child;
  });
  keep(verify_node(e));
  if (!status_.ok()) return;
  if (const auto* x = as<Var>(e)) {
    const auto found = std::find_if(variables_.begin(), variables_.end(),
                                    [&](const auto& v) { return v.first == x->name; });
    require(found != variables_.end(), "a variable that is not defined", shown(e));
    if (!status_.ok()) return;
    require(found->second == e.type(), "a variable of another type than defined", shown(e));
  }
  if (const auto* x = as<Load>(e)) access(x->buffer, shown(e));
}

void Verifier::loop(const For& x) {
  expr(x.min);
  expr(x.extent);
  if (!status_.ok()) return;
  const std::string text =
      fmt::format("{} for {} in {}", to_string(x.kind), x.var, shown(x.extent));
  require(x.min.type() == kIndex && x.extent.type() == kIndex, "a loop whose range is not i64",
          text);
  require((x.kind == LoopKind::Bound) == !x.axis.empty(),
          "a loop with an axis that is not bound, or bound without one", text);
  require(x.kind != LoopKind::Vectorized || as<IntImm>(x.extent),
          "a vectorized loop whose extent is not constant", text);
  const int bound = x.kind == LoopKind::Bound ? 1 : 0;
  bound_loops_ += bound;
  add_variable(x.var, kIndex);
  stmt(x.body);
  drop_variable();
  bound_loops_ -= bound;
}

void Verifier::store(const Store& x) {
  for (const Expr& i : x.index) expr(i);
  expr(x.value);
  if (!status_.ok()) return;
  std::string text = to_string(make_stmt(x));
  text.pop_back();
  access(x.buffer, text);
  require(x.index.size() == x.buffer->shape.size(), "a store without one index per dimension",
          text);
  int lanes = 1;
  for (const Expr& i : x.index) {
    require(i.type().element() == kIndex, "a store whose indices are not i64", text);
    lanes = std::max<int>(lanes, i.type().lanes);
  }
  for (const Expr& i : x.index) {
    require(i.type().is_scalar() || i.type().lanes == lanes, "a store with indices of unlike lanes",
            text);
  }
  require(x.value.type() == x.buffer->type.with_lanes(lanes),
          "a store of another type than its place", text);
}

void Verifier::stmt(const Stmt& s) {
  if (!status_.ok()) return;
  if (!s) return require(false, "a missing statement", "");
  std::visit(Match{
                 [&](const For& x) { loop(x); },
                 [&](const Store& x) { store(x); },
                 [&](const Block& x) {
                   for (const Stmt& child : x.stmts) stmt(child);
                 },
                 [&](const If& x) {
                   expr(x.condition);
                   if (!status_.ok()) return;
                   require(x.condition.type() == kBool, "a condition that is not a scalar bool",
                           shown(x.condition));
                   stmt(x.then_body);
                   if (x.else_body) stmt(x.else_body);
                 },
                 [&](const Allocate& x) {
                   add_buffer(x.buffer);
                   stmt(x.body);
                   drop_buffer();
                 },
                 [&](const LetStmt& x) {
                   expr(x.value);
                   if (!status_.ok()) return;
                   add_variable(x.var, x.value.type());
                   stmt(x.body);
                   drop_variable();
                 },
                 [&](const Evaluate& x) { expr(x.value); },
                 [&](const Barrier& x) {
                   require(bound_loops_ > 0, "a barrier outside of all bound loops",
                           std::string(to_string(x.scope)));
                 },
             },
             s->kind);
}

Status in_context(const Status& status, const std::string& context) {
  if (status.ok()) return status;
  return Error{status.error().code, status.error().message + " in " + context, {}};
}

}  // namespace

Status verify(const Kernel& kernel) {
  Verifier verifier;
  for (const Buffer& param : kernel.params) {
    verifier.add_buffer(param);
    verifier.require(param->scope == Scope::Global, "a parameter that is not in global memory",
                     param->name);
  }
  verifier.require(kernel.workspace_bytes >= 0, "a negative workspace",
                   std::to_string(kernel.workspace_bytes));
  verifier.stmt(kernel.body);
  return in_context(verifier.status(), fmt::format("kernel '{}'", kernel.name));
}

}  // namespace attune::ir
