#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

Status apply_step(State& state, const Fuse& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  if (step.loops.size() < 2) {
    return invalid(fmt::format("fuse in stage '{}' names {} loops", step.stage, step.loops.size()),
                   "name two adjacent loops or more");
  }
  ATTUNE_ASSIGN(const int first, require_loop(*state.stages[index], step.loops[0]));
  StageState& stage = state.edit(index);
  FuseRelation relation{{}, static_cast<int>(stage.iters.size())};
  for (std::size_t i = 0; i < step.loops.size(); ++i) {
    ATTUNE_ASSIGN(const int position, require_loop(stage, step.loops[i]));
    if (position != first + static_cast<int>(i)) {
      return invalid(fmt::format("loops '{}' and '{}' of stage '{}' are not adjacent",
                                 step.loops[i - 1], step.loops[i], step.stage),
                     "reorder them first; loops are " + stage.loop_names());
    }
    const Iter& loop = stage.iters[stage.loops[position]];
    if (loop.kind != ir::LoopKind::Serial) {
      return invalid(fmt::format("loop '{}' of stage '{}' is annotated and cannot be fused",
                                 loop.name, step.stage),
                     "fuse first, annotate then");
    }
    if (loop.reduce != stage.iters[stage.loops[first]].reduce) {
      return invalid(fmt::format("loop '{}' is a reduction and '{}' is not, or the reverse",
                                 step.loops[0], loop.name),
                     "fuse loops of one kind");
    }
    relation.parents.push_back(stage.loops[position]);
  }
  stage.iters.push_back({fmt::format("{}", fmt::join(step.loops, "*")),
                         stage.iters[relation.parents[0]].reduce,
                         {},
                         {}});
  stage.loops.erase(stage.loops.begin() + first + 1,
                    stage.loops.begin() + first + static_cast<int>(step.loops.size()));
  stage.loops[first] = relation.child;
  stage.relations.push_back(std::move(relation));
  return {};
}

}  // namespace attune::schedule
