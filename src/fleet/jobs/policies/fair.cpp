#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

Rank by_arrival(const StageView& stage) {
  return {stage.ready_at, static_cast<double>(stage.id), 0};
}

std::optional<Rank> rank_fair(const View&, const StageView& stage) { return by_arrival(stage); }

Policy fair_policy() {
  return {
      .name = "fair", .summary = "first come, first served, for each resource", .rank = rank_fair};
}

}  // namespace attune::jobs
