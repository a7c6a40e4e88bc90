#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/bindings.h"
#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

Status check_loop(const StageState& stage, const Iter& loop, const Bind& step) {
  if (loop.kind != ir::LoopKind::Serial) {
    return invalid(
        fmt::format("loop '{}' of stage '{}' is annotated already", step.loop, step.stage),
        "a loop has one kind");
  }
  if (loop.reduce) {
    return invalid(fmt::format("cannot bind loop '{}' of stage '{}' to {}: it is a reduction",
                               step.loop, step.stage, step.axis),
                   "rfactor it first, or choose a loop over an axis of the output");
  }
  for (int other : stage.loops) {
    if (stage.iters[other].axis != step.axis) continue;
    return invalid(fmt::format("loop '{}' of stage '{}' is bound to {} already",
                               stage.iters[other].name, step.stage, step.axis),
                   "an axis has one loop of a stage; fuse the two, or choose another axis");
  }
  return {};
}

}  // namespace

Status apply_step(State& state, const Bind& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], step.loop));
  const auto axes = hardware_axes();
  if (std::find(axes.begin(), axes.end(), step.axis) == axes.end()) {
    return invalid(fmt::format("unknown axis '{}' for loop '{}' of stage '{}'", step.axis,
                               step.loop, step.stage),
                   "axes are block.x, block.y, block.z, thread.x, thread.y, thread.z");
  }
  StageState& stage = state.edit(index);
  Iter& loop = stage.iters[stage.loops[position]];
  ATTUNE_RETURN_IF_ERROR(check_loop(stage, loop, step));
  loop.kind = ir::LoopKind::Bound;
  loop.axis = step.axis;
  return {};
}

}  // namespace attune::schedule
