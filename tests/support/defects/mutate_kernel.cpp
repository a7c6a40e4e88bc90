#include "tests/support/defects/mutate_kernel.h"

#include <functional>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::test {
namespace {

using namespace ir;

Kernel with_body(const Kernel& kernel, Stmt body) {
  Kernel changed = kernel;
  changed.body = std::move(body);
  return changed;
}

// Statements from the inside out, each as `change` says.
Stmt rewrite(const Stmt& s, const StmtFn& change) {
  return change(map_children(
      s, [&](const Stmt& child) { return rewrite(child, change); },
      [](const Expr& e) { return e; }));
}

Expr rewrite_loads(const Expr& e, const std::function<Expr(const Load&, const Expr&)>& change) {
  const Expr mapped =
      map_children(e, [&](const Expr& child) { return rewrite_loads(child, change); });
  const auto* x = as<Load>(mapped);
  return x ? change(*x, mapped) : mapped;
}

Stmt on_expressions(const Stmt& s, const ExprFn& change) {
  return map_children(
      s, [&](const Stmt& child) { return on_expressions(child, change); }, change);
}

Stmt with_buffer(const Stmt& s, const std::string& name, const Buffer& replaced) {
  const Stmt stores = rewrite(s, [&](const Stmt& part) {
    if (const auto* x = as<Store>(part); x && x->buffer->name == name) {
      return make_stmt(Store{replaced, x->index, x->value});
    }
    if (const auto* x = as<Allocate>(part); x && x->buffer->name == name) {
      return allocate(replaced, x->body);
    }
    return part;
  });
  return on_expressions(stores, [&](const Expr& e) {
    return rewrite_loads(e, [&](const Load& x, const Expr& same) {
      return x.buffer->name == name ? load(replaced, x.index) : same;
    });
  });
}

Buffer find_allocated(const Stmt& s, const std::string& name) {
  Buffer found;
  visit(
      s,
      [&](const Stmt& part) {
        const auto* x = as<Allocate>(part);
        if (x && x->buffer->name == name) found = x->buffer;
      },
      [](const Expr&) {});
  return found;
}

std::string variable_of(const Stmt& s, const std::string& axis) {
  std::string found;
  visit(
      s,
      [&](const Stmt& part) {
        const auto* x = as<For>(part);
        if (x && x->axis == axis) found = x->var;
      },
      [](const Expr&) {});
  return found;
}

Stmt on_barrier(const Stmt& s, int number, const std::function<Stmt(const Stmt&)>& change) {
  int seen = 0;
  return rewrite(s, [&](const Stmt& part) {
    return as<Barrier>(part) && seen++ == number ? change(part) : part;
  });
}

}  // namespace

Kernel drop_barrier(const Kernel& kernel, int number) {
  return with_body(kernel, on_barrier(kernel.body, number, [](const Stmt&) { return block({}); }));
}

Kernel diverge_barrier(const Kernel& kernel, int number) {
  const Expr thread = var(variable_of(kernel.body, "thread.x"));
  return with_body(kernel, on_barrier(kernel.body, number, [&](const Stmt& barrier) {
                     return if_then(thread < Expr(1), barrier);
                   }));
}

Kernel set_scope(const Kernel& kernel, const std::string& buffer, Scope scope) {
  const Buffer old = find_allocated(kernel.body, buffer);
  if (!old) return kernel;
  const Buffer changed = make_buffer(old->name, old->type, old->shape, scope);
  return with_body(kernel, with_buffer(kernel.body, buffer, changed));
}

Kernel shrink(const Kernel& kernel, const std::string& buffer, std::int64_t less) {
  const Buffer old = find_allocated(kernel.body, buffer);
  if (!old) return kernel;
  std::vector<std::int64_t> shape = old->shape;
  shape[0] -= less;
  return with_body(kernel, with_buffer(kernel.body, buffer,
                                       make_buffer(old->name, old->type, shape, old->scope)));
}

Kernel hoist_allocation(const Kernel& kernel, const std::string& buffer) {
  const Buffer found = find_allocated(kernel.body, buffer);
  if (!found) return kernel;
  const Stmt without = rewrite(kernel.body, [&](const Stmt& part) {
    const auto* x = as<Allocate>(part);
    return x && x->buffer == found ? x->body : part;
  });
  return with_body(kernel, allocate(found, without));
}

Kernel shift_loads(const Kernel& kernel, const std::string& buffer, std::int64_t by) {
  return with_body(kernel, on_expressions(kernel.body, [&](const Expr& e) {
                     return rewrite_loads(e, [&](const Load& x, const Expr& same) {
                       return x.buffer->name == buffer ? load(x.buffer, {x.index[0] + Expr(by)})
                                                       : same;
                     });
                   }));
}

Kernel shift_stores(const Kernel& kernel, const std::string& buffer, std::int64_t by) {
  return with_body(kernel, rewrite(kernel.body, [&](const Stmt& part) {
                     const auto* x = as<Store>(part);
                     if (!x || x->buffer->name != buffer) return part;
                     return store(x->buffer, {x->index[0] + Expr(by)}, x->value);
                   }));
}

Kernel merge_stores(const Kernel& kernel, const std::string& buffer, const std::string& axis,
                    std::int64_t by) {
  const std::string variable = variable_of(kernel.body, axis);
  return with_body(kernel, rewrite(kernel.body, [&](const Stmt& part) {
                     const auto* x = as<Store>(part);
                     if (!x || x->buffer->name != buffer) return part;
                     const Bindings merged{{variable, var(variable) / Expr(by)}};
                     return store(x->buffer, {substitute(x->index[0], merged)}, x->value);
                   }));
}

Kernel drop_conditions(const Kernel& kernel, const std::string& buffer) {
  return with_body(kernel, rewrite(kernel.body, [&](const Stmt& part) {
                     const auto* x = as<If>(part);
                     bool stores = false;
                     visit(
                         part,
                         [&](const Stmt& inner) {
                           const auto* s = as<Store>(inner);
                           stores |= s && s->buffer->name == buffer;
                         },
                         [](const Expr&) {});
                     return x && stores ? x->then_body : part;
                   }));
}

Kernel drop_first_store(const Kernel& kernel, const std::string& buffer) {
  bool done = false;
  return with_body(kernel, rewrite(kernel.body, [&](const Stmt& part) {
                     const auto* x = as<Store>(part);
                     if (done || !x || x->buffer->name != buffer) return part;
                     done = true;
                     return block({});
                   }));
}

Kernel change_extent(const Kernel& kernel, const std::string& axis, std::int64_t by) {
  return with_body(kernel, rewrite(kernel.body, [&](const Stmt& part) {
                     const auto* x = as<For>(part);
                     if (!x || x->axis != axis) return part;
                     For changed = *x;
                     changed.extent = x->extent + Expr(by);
                     return make_stmt(changed);
                   }));
}

Kernel unbind(const Kernel& kernel, const std::string& axis) {
  // The variable becomes 0 everywhere, as if the launch had forgotten the axis.
  const std::string variable = variable_of(kernel.body, axis);
  return with_body(
      kernel, rewrite(kernel.body, [&](const Stmt& part) {
        const auto* x = as<For>(part);
        return x && x->axis == axis ? substitute(x->body, {{variable, Expr(0)}}) : part;
      }));
}

}  // namespace attune::test
