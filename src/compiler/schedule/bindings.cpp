#include "compiler/schedule/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attune::schedule {
namespace {

constexpr std::array<std::string_view, 6> kAxes{"block.z",  "block.y",  "block.x",
                                                "thread.z", "thread.y", "thread.x"};

bool is_bound(const StageState& stage) {
  return std::any_of(stage.loops.begin(), stage.loops.end(),
                     [&](int loop) { return stage.iters[loop].kind == ir::LoopKind::Bound; });
}

// Blocks are launched before anything runs, so nothing stands around their loops.
Status check_blocks(const StageState& stage) {
  bool first = true;
  for (int loop : stage.loops) {
    const Iter& iter = stage.iters[loop];
    const bool block = iter.kind == ir::LoopKind::Bound && is_block_axis(iter.axis);
    if (block && !stage.at_root()) {
      return invalid(
          fmt::format("loop '{}' of stage '{}' is bound to {}, but the stage is computed within "
                      "'{}'",
                      iter.name, stage.stage.name, iter.axis, stage.at_stage),
          "bind blocks on stages at root, and threads on what is computed within them");
    }
    if (block && !first) {
      return invalid(fmt::format("loop '{}' of stage '{}' is bound to {} inside of other loops",
                                 iter.name, stage.stage.name, iter.axis),
                     "reorder the loops of blocks to the front");
    }
    first &= block;
  }
  return {};
}

Status check_memory(const StageState& stage) {
  const std::string& name = stage.stage.name;
  if (stage.at_root()) {
    if (stage.scope.value_or(ir::Scope::Global) == ir::Scope::Global) return {};
    return invalid(fmt::format("stage '{}' is computed by a launch of its own and must be in "
                               "global memory",
                               name),
                   "compute it at a loop of its consumer");
  }
  if (stage.scope == ir::Scope::Global) {
    return invalid(fmt::format("stage '{}' is computed within '{}' and cannot be in global memory",
                               name, stage.at_stage),
                   "set its scope to shared, stack or register");
  }
  if (!is_shared(stage) && is_bound(stage)) {
    return invalid(
        fmt::format("stage '{}' has bound loops, but its memory belongs to one thread", name),
        "set its scope to shared");
  }
  return {};
}

// Whatever is computed in a launch is computed inside of its blocks.
Status check_place(const State& state, int index) {
  const StageState& stage = *state.stages[index];
  const int host_index = state.find(stage.at_stage);
  if (host_index < 0) return {};
  const StageState& host = *state.stages[host_index];
  const int at = host.find_loop(stage.at_loop);
  for (int i = at + 1; at >= 0 && i < static_cast<int>(host.loops.size()); ++i) {
    const Iter& iter = host.iters[host.loops[i]];
    if (iter.kind != ir::LoopKind::Bound || !is_block_axis(iter.axis)) continue;
    return invalid(
        fmt::format("stage '{}' is computed at loop '{}' of '{}', outside of loop '{}', "
                    "which is bound to {}",
                    stage.stage.name, stage.at_loop, stage.at_stage, iter.name, iter.axis),
        "compute it inside of the blocks");
  }
  return {};
}

Status check_kinds(const State& state) {
  for (const auto& stage : state.stages) {
    for (int loop : stage->loops) {
      if (stage->iters[loop].kind != ir::LoopKind::Parallel) continue;
      return invalid(fmt::format("loop '{}' of stage '{}' is parallel, while others are bound",
                                 stage->iters[loop].name, stage->stage.name),
                     "bind it to blocks or threads");
    }
  }
  return {};
}

}  // namespace

std::span<const std::string_view> hardware_axes() { return kAxes; }

bool is_block_axis(std::string_view axis) { return axis.starts_with("block."); }

bool has_bound_loops(const State& state) {
  return std::any_of(state.stages.begin(), state.stages.end(),
                     [](const auto& stage) { return is_bound(*stage); });
}

bool is_shared(const StageState& stage) {
  return !stage.at_root() && stage.scope == ir::Scope::Shared;
}

int root_of(const State& state, int stage) {
  int at = stage;
  for (std::size_t hops = 0; hops <= state.stages.size(); ++hops) {
    if (state.stages[at]->at_root()) return at;
    const int host = state.find(state.stages[at]->at_stage);
    if (host < 0) return stage;
    at = host;
  }
  return stage;
}

Status check_bindings(const State& state) {
  const bool bound = has_bound_loops(state);
  for (int i = 0; i < static_cast<int>(state.stages.size()); ++i) {
    const StageState& stage = *state.stages[i];
    if (stage.scope == ir::Scope::Shared &&
        (stage.at_root() || !is_bound(*state.stages[root_of(state, i)]))) {
      return invalid(fmt::format("stage '{}' is in shared memory, but not computed inside of a "
                                 "block",
                                 stage.stage.name),
                     "bind loops of the stage around it to blocks or threads");
    }
    if (!bound) continue;
    ATTUNE_RETURN_IF_ERROR(check_blocks(stage));
    ATTUNE_RETURN_IF_ERROR(check_memory(stage));
    if (!stage.at_root()) ATTUNE_RETURN_IF_ERROR(check_place(state, i));
  }
  return bound ? check_kinds(state) : Status();
}

}  // namespace attune::schedule
