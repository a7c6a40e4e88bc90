#include "tests/support/defects/mutate_pipeline.h"

#include "compiler/ir/nodes/rewrite.h"

namespace attune::test {
namespace {

using namespace ir;

const Opaque* call_of(const Stmt& s, std::string_view intrinsic) {
  const auto* effect = as<Evaluate>(s);
  const auto* call = effect ? as<Opaque>(effect->value) : nullptr;
  return call && call->name == intrinsic ? call : nullptr;
}

// Statements from the inside out, each as `change` says.
Stmt rewrite(const Stmt& s, const StmtFn& change) {
  return change(map_children(
      s, [&](const Stmt& child) { return rewrite(child, change); },
      [](const Expr& e) { return e; }));
}

Kernel with_body(const Kernel& kernel, const StmtFn& change) {
  Kernel changed = kernel;
  changed.body = rewrite(kernel.body, change);
  return changed;
}

Kernel on_call(const Kernel& kernel, std::string_view intrinsic, int number,
               const std::function<Stmt(const Stmt&, const Opaque&)>& change) {
  int seen = 0;
  return with_body(kernel, [&](const Stmt& s) {
    const Opaque* call = call_of(s, intrinsic);
    return call && seen++ == number ? change(s, *call) : s;
  });
}

Stmt on_expressions(const Stmt& s, const ExprFn& change) {
  const auto* effect = as<Evaluate>(s);
  if (effect && as<Opaque>(effect->value)) return s;
  return map_children(
      s, [&](const Stmt& child) { return on_expressions(child, change); }, change);
}

std::string thread_of(const Kernel& kernel) {
  std::string found;
  visit(
      kernel.body,
      [&](const Stmt& s) {
        const auto* x = as<For>(s);
        if (x && x->axis == "thread.x") found = x->var;
      },
      [](const Expr&) {});
  return found;
}

}  // namespace

Kernel drop_call(const Kernel& kernel, std::string_view intrinsic, int number) {
  return on_call(kernel, intrinsic, number, [](const Stmt&, const Opaque&) { return block({}); });
}

Kernel diverge_call(const Kernel& kernel, std::string_view intrinsic, int number) {
  const Expr first = var(thread_of(kernel)) < Expr(1);
  return on_call(kernel, intrinsic, number,
                 [&](const Stmt& s, const Opaque&) { return if_then(first, s); });
}

Kernel change_argument(const Kernel& kernel, std::string_view intrinsic, int number,
                       std::size_t argument, const ExprChange& change) {
  return on_call(kernel, intrinsic, number, [&](const Stmt&, const Opaque& call) {
    std::vector<Expr> arguments = call.args;
    arguments[argument] = change(arguments[argument]);
    return evaluate(opaque(call.name, kI32, std::move(arguments)));
  });
}

ExprChange elements(const Expr& by) {
  return [by](const Expr& e) {
    const auto* at = as<Load>(e);
    return load(at->buffer, {at->index[0] + by});
  };
}

ExprChange iterations(const std::string& variable, std::int64_t by) {
  return [later = Bindings{{variable, var(variable) + Expr(by)}}](const Expr& e) {
    return substitute(e, later);
  };
}

ExprChange another(std::int64_t by) {
  return [by](const Expr& e) { return e + Expr(by); };
}

Kernel swap_with_next(const Kernel& kernel, std::string_view intrinsic, int number) {
  int seen = 0;
  return with_body(kernel, [&](const Stmt& s) {
    const auto* list = as<Block>(s);
    if (!list) return s;
    std::vector<Stmt> stmts = list->stmts;
    for (std::size_t i = 0; i + 1 < stmts.size(); ++i) {
      if (!call_of(stmts[i], intrinsic) || seen++ != number) continue;
      std::swap(stmts[i], stmts[i + 1]);
      return block(std::move(stmts));
    }
    return s;
  });
}

Kernel shift_reads(const Kernel& kernel, const std::string& buffer, const std::string& variable,
                   std::int64_t by) {
  Kernel changed = kernel;
  const Bindings later{{variable, var(variable) + Expr(by)}};
  const ExprFn shift = [&](const Expr& e) {
    const Expr mapped = map_children(e, [&](const Expr& child) { return shift(child); });
    const auto* x = as<Load>(mapped);
    return x && x->buffer->name == buffer ? load(x->buffer, {substitute(x->index[0], later)})
                                          : mapped;
  };
  changed.body = on_expressions(kernel.body, shift);
  return changed;
}

Kernel shift_writes(const Kernel& kernel, const std::string& buffer, const std::string& variable,
                    std::int64_t by) {
  const Bindings later{{variable, var(variable) + Expr(by)}};
  return with_body(kernel, [&](const Stmt& s) {
    const auto* x = as<Store>(s);
    if (!x || x->buffer->name != buffer) return s;
    return store(x->buffer, {substitute(x->index[0], later)}, x->value);
  });
}

Kernel drop_condition_on(const Kernel& kernel, const std::string& variable) {
  bool done = false;
  return with_body(kernel, [&](const Stmt& s) {
    const auto* x = as<If>(s);
    if (done || !x || !uses_var(x->condition, variable)) return s;
    done = true;
    return x->then_body;
  });
}

}  // namespace attune::test
