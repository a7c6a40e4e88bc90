// parallel, vectorize and unroll: what kind of loop a loop is.
#include <fmt/format.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

Status set_kind(State& state, const std::string& stage_name, const std::string& loop_name,
                ir::LoopKind kind, std::string_view verb) {
  ATTUNE_ASSIGN(const int index, require_stage(state, stage_name));
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], loop_name));
  StageState& stage = state.edit(index);
  Iter& loop = stage.iters[stage.loops[position]];
  if (loop.kind != ir::LoopKind::Serial && loop.kind != kind) {
    return invalid(
        fmt::format("loop '{}' of stage '{}' is annotated already", loop_name, stage_name),
        "a loop has one kind");
  }
  // Lanes of a single-valued reduction are combined at the end; pairs have no vector form.
  const bool lanes_combine = kind == ir::LoopKind::Vectorized && stage.stage.outputs.size() == 1;
  if (loop.reduce && kind != ir::LoopKind::Unrolled && !lanes_combine) {
    return invalid(fmt::format("cannot {} loop '{}' of stage '{}': it is a reduction", verb,
                               loop_name, stage_name),
                   "rfactor it first, or choose a loop over an axis of the output");
  }
  loop.kind = kind;
  return {};
}

}  // namespace

Status apply_step(State& state, const Parallel& step) {
  return set_kind(state, step.stage, step.loop, ir::LoopKind::Parallel, "parallelise");
}

Status apply_step(State& state, const Vectorize& step) {
  return set_kind(state, step.stage, step.loop, ir::LoopKind::Vectorized, "vectorise");
}

Status apply_step(State& state, const Unroll& step) {
  return set_kind(state, step.stage, step.loop, ir::LoopKind::Unrolled, "unroll");
}

}  // namespace attune::schedule
