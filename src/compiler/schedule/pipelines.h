// Pipelines: stages in shared memory with several buffers, filled for later iterations of the loop
// that they are computed at while the present one works. What must hold among the stages of a
// schedule with such stages, and what lowering is told of them.
#pragma once

#include "compiler/schedule/state.h"

namespace attune::schedule {

inline constexpr int kMostBuffers = 8;

// The note of a loop with pipelined stages: the number of buffers, then the names of the stages,
// those that are to be bulk copies with "=" and for how many blocks.
inline constexpr std::string_view kPipelineNote = "pipeline";
inline constexpr std::string_view kBulkNote = "bulk";

// What single steps cannot know, since later ones may mend it: bounds inference asks for it.
Status check_pipelines(const State& state);

// The loop's notes, with one for the stages that are pipelined at it.
Notes with_pipelines(const State& state, const StageState& host, int loop);

}  // namespace attune::schedule
