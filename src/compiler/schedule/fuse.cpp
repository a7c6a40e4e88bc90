#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/schedule/extents.h"
#include "compiler/schedule/primitives.h"

namespace attune::schedule {

namespace {

// Partial splits may have far more iterations than their axis.
Status check_extent(const StageState& stage, const FuseRelation& relation) {
  Extents axes;
  for (const ir::Axis& axis : stage.stage.axes) axes.push_back(axis.extent);
  for (const ir::Axis& axis : stage.stage.reduce_axes) axes.push_back(axis.extent);
  const Extents extents = loop_extents(stage, axes);
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  std::int64_t product = 1;
  for (int parent : relation.parents) {
    if (extents[parent] > kMost / product) {
      return invalid(fmt::format("the loops to fuse in stage '{}' have more than {} iterations",
                                 stage.stage.name, kMost),
                     "split by factors up to the loop's extent");
    }
    product *= extents[parent];
  }
  return {};
}

}  // namespace

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
  ATTUNE_RETURN_IF_ERROR(check_extent(stage, relation));
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
