#include <fmt/format.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

Status apply_step(State& state, const StorageAlign& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "the length of its rows"));
  constexpr std::int64_t kMost = 1 << 20;
  if (step.factor < 1 || step.factor > kMost || step.offset < 0 || step.offset >= step.factor) {
    return invalid(fmt::format("rows of stage '{}' cannot have a length that is {} modulo {}",
                               step.stage, step.offset, step.factor),
                   fmt::format("choose a factor between 1 and {} and an offset below it", kMost));
  }
  state.edit(index).padding = {step.factor, step.offset};
  return {};
}

}  // namespace attune::schedule
