#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

std::optional<Rank> rank(const View& view, const StageView& stage) {
  if (stage.job != view.oldest_job) return std::nullopt;
  return by_arrival(stage);
}

}  // namespace

Policy sequential_policy() {
  return {.name = "sequential", .summary = "one job after the other", .rank = rank};
}

}  // namespace attune::jobs
