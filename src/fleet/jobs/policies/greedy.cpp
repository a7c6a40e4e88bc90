#include <algorithm>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_greedy(const View& view, const StageView& stage) {
  const std::vector<JobIndex>& holders = view.pools[stage.pool].holders;
  const bool holds = std::find(holders.begin(), holders.end(), stage.job) != holders.end();
  return Rank{holds ? 0.0 : 1.0, stage.ready_at, static_cast<double>(stage.id)};
}

Policy greedy_policy() {
  return {.name = "greedy",
          .summary = "a job keeps its resource while it can use it",
          .rank = rank_greedy};
}

}  // namespace attune::jobs
