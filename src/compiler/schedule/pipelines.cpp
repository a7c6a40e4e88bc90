#include "compiler/schedule/pipelines.h"

#include <fmt/format.h>

#include "compiler/schedule/bindings.h"

namespace attune::schedule {
namespace {

bool computed_at(const StageState& stage, const StageState& host, const std::string& loop) {
  return stage.at_stage == host.stage.name && stage.at_loop == loop;
}

Status check_loop(const StageState& stage, const StageState& host) {
  const int at = host.find_loop(stage.at_loop);
  if (at < 0) return {};  // bounds inference says so
  const ir::LoopKind kind = host.iters[host.loops[at]].kind;
  if (kind == ir::LoopKind::Serial || kind == ir::LoopKind::Unrolled) return {};
  return invalid(
      fmt::format("stage '{}' is pipelined at loop '{}' of '{}', whose iterations have no order",
                  stage.stage.name, stage.at_loop, stage.at_stage),
      "compute it at a serial loop");
}

// Sources must be there before the launch begins: iterations that come later are fetched.
Status check_sources(const State& state, const StageState& stage) {
  for (const Access& access : stage.accesses) {
    const int producer = state.producer_of(access.buffer);
    if (producer < 0 || state.stages[producer]->at_root()) continue;
    return invalid(fmt::format("stage '{}' is pipelined, but reads '{}', which is computed in the "
                               "same launch",
                               stage.stage.name, access.buffer->name),
                   "pipeline copies of global memory");
  }
  return {};
}

Status check_neighbours(const State& state, const StageState& stage, const StageState& host) {
  for (const auto& other : state.stages) {
    if (other->at_stage == stage.stage.name) {
      return invalid(fmt::format("stage '{}' is pipelined, but '{}' is computed within it",
                                 stage.stage.name, other->stage.name),
                     "inline it, or compute it elsewhere");
    }
    if (other->buffers == 1 || other->buffers == stage.buffers) continue;
    if (!computed_at(*other, host, stage.at_loop)) continue;
    return invalid(fmt::format("stages '{}' and '{}' are pipelined at loop '{}' of '{}' with {} "
                               "and {} buffers",
                               stage.stage.name, other->stage.name, stage.at_loop, stage.at_stage,
                               stage.buffers, other->buffers),
                   "choose one number for both");
  }
  return {};
}

}  // namespace

Status check_pipelines(const State& state) {
  for (const auto& stage : state.stages) {
    if (stage->buffers == 1) continue;
    if (!is_shared(*stage)) {
      return invalid(fmt::format("stage '{}' is pipelined, but not in the shared memory of a block",
                                 stage->stage.name),
                     "set its scope to shared, and compute it at a serial loop of its consumer");
    }
    const int host = state.find(stage->at_stage);
    if (host < 0) continue;
    ATTUNE_RETURN_IF_ERROR(check_loop(*stage, *state.stages[host]));
    ATTUNE_RETURN_IF_ERROR(check_sources(state, *stage));
    ATTUNE_RETURN_IF_ERROR(check_neighbours(state, *stage, *state.stages[host]));
  }
  return {};
}

Notes with_pipelines(const State& state, const StageState& host, int loop) {
  const Iter& iter = host.iters[loop];
  Notes notes = iter.notes;
  std::string text;
  for (const auto& stage : state.stages) {
    if (stage->buffers == 1 || !computed_at(*stage, host, iter.name)) continue;
    if (text.empty()) text = fmt::format("{}", stage->buffers);
    text += " " + stage->stage.outputs[0]->name;
    if (const std::string* blocks = find_note(stage->notes, kBulkNote)) text += "=" + *blocks;
  }
  if (!text.empty()) notes.emplace_back(kPipelineNote, text);
  return notes;
}

}  // namespace attune::schedule
