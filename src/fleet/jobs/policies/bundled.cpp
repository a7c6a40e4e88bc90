#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

// What continues a unit goes before everything else.
std::optional<Rank> in_bundles(const StageView& stage, std::optional<Rank> rank) {
  if (rank && stage.continues) (*rank)[0] = -1;
  return rank;
}

std::optional<Rank> rank_greedy_bundled(const View& view, const StageView& stage) {
  return in_bundles(stage, rank_greedy(view, stage));
}

std::optional<Rank> rank_fair_bundled(const View& view, const StageView& stage) {
  return in_bundles(stage, rank_fair(view, stage));
}

}  // namespace

Policy greedy_bundled_policy() {
  return {.name = "greedy-bundled",
          .summary = "greedy, stages of a job that follow on one resource as one unit",
          .rank = rank_greedy_bundled};
}

Policy fair_bundled_policy() {
  return {.name = "fair-bundled",
          .summary = "fair, stages of a job that follow on one resource as one unit",
          .rank = rank_fair_bundled};
}

}  // namespace attune::jobs
