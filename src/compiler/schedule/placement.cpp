// compute_at and root: where a stage is computed.
#include <fmt/format.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

bool runs_within(const State& state, int stage, int host, int position) {
  for (int hops = 0; hops <= static_cast<int>(state.stages.size()); ++hops) {
    if (stage == host) return true;
    const StageState& s = *state.stages[stage];
    if (s.at_root()) return false;
    const int next = state.find(s.at_stage);
    if (next < 0) return false;
    if (next == host) return state.stages[host]->find_loop(s.at_loop) >= position;
    stage = next;
  }
  return false;
}

Status apply_step(State& state, const ComputeAt& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_ASSIGN(const int host, require_stage(state, step.consumer));
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[host], step.loop));
  if (state.is_output(index)) {
    return invalid(fmt::format("stage '{}' is an output and is computed at root", step.stage),
                   "move its producers instead");
  }
  if (host <= index) {
    return invalid(fmt::format("stage '{}' does not read '{}'", step.consumer, step.stage),
                   "compute a stage at a loop of its consumer");
  }
  for (int consumer : state.consumers_of(index)) {
    if (!runs_within(state, consumer, host, position)) {
      return invalid(
          fmt::format("stage '{}' is read by '{}', which does not run within loop '{}' of '{}'",
                      step.stage, state.stages[consumer]->stage.name, step.loop, step.consumer),
          "all consumers must lie inside of the loop");
    }
  }
  StageState& stage = state.edit(index);
  stage.at_stage = step.consumer;
  stage.at_loop = step.loop;
  return {};
}

Status apply_step(State& state, const Root& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  StageState& stage = state.edit(index);
  stage.at_stage.clear();
  stage.at_loop.clear();
  return {};
}

}  // namespace attune::schedule
