#include <fmt/format.h>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

namespace {

Status check_factors(const Split& step) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const std::string hint = "choose a factor between 1 and the loop's extent";
  std::int64_t product = 1;
  for (std::int64_t factor : step.factors) {
    if (factor < 1) {
      return invalid(
          fmt::format("split factor for loop '{}' is {}, must be positive", step.loop, factor),
          hint);
    }
    if (factor > kMost / product) {
      return invalid(
          fmt::format("split factors for loop '{}' multiply to more than {}", step.loop, kMost),
          hint);
    }
    product *= factor;
  }
  return {};
}

}  // namespace

Status apply_step(State& state, const Split& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], step.loop));
  if (step.factors.empty()) {
    return invalid(fmt::format("split of loop '{}' has no factors", step.loop),
                   "give the extents of the inner loops");
  }
  ATTUNE_RETURN_IF_ERROR(check_factors(step));
  StageState& stage = state.edit(index);
  const int parent = stage.loops[position];
  if (stage.iters[parent].kind != ir::LoopKind::Serial) {
    return invalid(fmt::format("loop '{}' of stage '{}' is annotated and cannot be split",
                               step.loop, step.stage),
                   "split first, annotate then");
  }
  SplitRelation relation{parent, {}, step.factors};
  const bool reduce = stage.iters[parent].reduce;
  for (std::size_t i = 0; i <= step.factors.size(); ++i) {
    relation.children.push_back(static_cast<int>(stage.iters.size()));
    stage.iters.push_back({fmt::format("{}.{}", step.loop, i), reduce, {}, {}});
  }
  stage.loops.erase(stage.loops.begin() + position);
  stage.loops.insert(stage.loops.begin() + position, relation.children.begin(),
                     relation.children.end());
  stage.relations.push_back(std::move(relation));
  return {};
}

}  // namespace attune::schedule
