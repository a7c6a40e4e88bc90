#include <fmt/format.h>

#include "compiler/schedule/pipelines.h"
#include "compiler/schedule/primitives.h"

namespace attune::schedule {

// Where the stage is and what it reads may still change; bounds inference asks for that.
Status apply_step(State& state, const Pipeline& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "its memory"));
  if (step.buffers < 2 || step.buffers > kMostBuffers) {
    return invalid(
        fmt::format("stage '{}' cannot be pipelined with {} buffers", step.stage, step.buffers),
        fmt::format("choose a number between 2 and {}", kMostBuffers));
  }
  if (state.stages[index]->stage.reduction != ir::Reduction::None) {
    return invalid(fmt::format("stage '{}' is a reduction and cannot be fetched ahead", step.stage),
                   "pipeline a copy that cache_read made");
  }
  state.edit(index).buffers = static_cast<int>(step.buffers);
  return {};
}

}  // namespace attune::schedule
