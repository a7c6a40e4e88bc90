#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_greedy(const View& view, const StageView& stage) {
  const bool holds = view.pools[stage.pool].last_holder == stage.job;
  return Rank{holds ? 0.0 : 1.0, stage.ready_at, static_cast<double>(stage.id)};
}

}  // namespace attune::jobs
