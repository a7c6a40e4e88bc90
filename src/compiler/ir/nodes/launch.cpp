#include "compiler/ir/nodes/launch.h"

#include <algorithm>

#include "base/match.h"
#include "compiler/ir/nodes/rewrite.h"

namespace attune::ir {
namespace {

// The most memory of a scope that is alive at one time.
std::int64_t peak_bytes(const Stmt& s, Scope scope) {
  std::int64_t most = 0;
  map_children(
      s,
      [&](const Stmt& child) {
        most = std::max(most, peak_bytes(child, scope));
        return child;
      },
      [](const Expr& e) { return e; });
  const auto* storage = as<Allocate>(s);
  if (!storage || storage->buffer->scope != scope) return most;
  return most + element_count(*storage->buffer) * storage->buffer->type.element_bytes();
}

Launch launch_of(const Stmt& s) {
  Launch launch;
  visit(
      s,
      [&](const Stmt& part) {
        const auto* loop = as<For>(part);
        const auto* extent = loop ? as_int(loop->extent) : nullptr;
        if (!extent || loop->kind != LoopKind::Bound) return;
        const HardwareAxis axis = hardware_axis(loop->axis);
        auto& known = (axis.block ? launch.grid : launch.block)[axis.dimension];
        known = std::max(known, *extent);
      },
      [](const Expr&) {});
  launch.shared_bytes = peak_bytes(s, Scope::Shared);
  launch.register_bytes = peak_bytes(s, Scope::Register);
  launch.stack_bytes = peak_bytes(s, Scope::Stack);
  return launch;
}

void collect(const Stmt& s, std::vector<Launch>& launches) {
  if (const auto* list = as<Block>(s)) {
    for (const Stmt& child : list->stmts) collect(child, launches);
  } else if (const auto* storage = as<Allocate>(s);
             storage && storage->buffer->scope == Scope::Global) {
    collect(storage->body, launches);
  } else if (s) {
    launches.push_back(launch_of(s));
  }
}

Stmt as_loops(const Stmt& s, bool outermost) {
  if (const auto* found = as<For>(s); found && found->kind == LoopKind::Bound) {
    For loop = *found;
    loop.kind = outermost ? LoopKind::Parallel : LoopKind::Serial;
    loop.axis.clear();
    loop.body = as_loops(loop.body, false);
    return make_stmt(std::move(loop));
  }
  return map_children(
      s, [&](const Stmt& child) { return as_loops(child, outermost); },
      [](const Expr& e) { return e; });
}

}  // namespace

HardwareAxis hardware_axis(std::string_view axis) {
  HardwareAxis found;
  found.block = axis.starts_with("block");
  if (axis.ends_with(".y")) found.dimension = 1;
  if (axis.ends_with(".z")) found.dimension = 2;
  return found;
}

std::vector<Launch> launches_of(const Kernel& kernel) {
  std::vector<Launch> launches;
  collect(kernel.body, launches);
  return launches;
}

bool has_bound_loops(const Stmt& s) {
  bool found = false;
  visit(
      s,
      [&](const Stmt& part) {
        const auto* loop = as<For>(part);
        found |= loop && loop->kind == LoopKind::Bound;
      },
      [](const Expr&) {});
  return found;
}

Stmt as_plain_loops(const Stmt& s) { return as_loops(s, true); }

}  // namespace attune::ir
