// Longest remaining processing time first: near the lower bound of the whole, and robust against
// predictions that are off by half.
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_makespan(const View& view, const StageView& stage) {
  const double remaining = view.jobs[stage.job].remaining_seconds;
  return Rank{-remaining, stage.ready_at, static_cast<double>(stage.id)};
}

}  // namespace attune::jobs
