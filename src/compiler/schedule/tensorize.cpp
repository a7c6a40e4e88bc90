#include <fmt/format.h>

#include "compiler/schedule/primitives.h"
#include "compiler/schedule/tensor_match.h"

namespace attune::schedule {

// Steps that follow may change the loops again; lowering matches once more, with the bounds.
Status apply_step(State& state, const Tensorize& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  const StageState& stage = *state.stages[index];
  ATTUNE_ASSIGN(const int position, require_loop(stage, step.loop));
  const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(step.intrinsic);
  if (!intrinsic) {
    std::string names;
    for (const auto& known : ir::tensor_intrinsics()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    }
    return invalid(fmt::format("unknown intrinsic '{}' for stage '{}'", step.intrinsic, step.stage),
                   "intrinsics are " + names);
  }
  Extents axes;
  for (const ir::Axis& axis : stage.stage.axes) axes.push_back(axis.extent);
  for (const ir::Axis& axis : stage.stage.reduce_axes) axes.push_back(axis.extent);
  if (stage.at_root()) {
    const auto match = match_tensor(stage, loop_extents(stage, axes), position, *intrinsic);
    if (!match.ok()) return match.error();
  }
  StageState& changed = state.edit(index);
  changed.tensorized = changed.loops[position];
  changed.intrinsic = step.intrinsic;
  return {};
}

}  // namespace attune::schedule
