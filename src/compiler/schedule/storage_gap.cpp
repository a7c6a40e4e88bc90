#include <fmt/format.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

Status apply_step(State& state, const StorageGap& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "the gaps in its memory"));
  constexpr std::int64_t kMost = 1 << 20;
  if (step.elements < 1 || step.elements > kMost) {
    return invalid(fmt::format("stage '{}' cannot have gaps of {} elements in its memory",
                               step.stage, step.elements),
                   fmt::format("choose a number between 1 and {}", kMost));
  }
  state.edit(index).gap = step.elements;
  return {};
}

}  // namespace attune::schedule
