// Longest remaining processing time first: near the lower bound of the whole, and robust against
// predictions that are off by half. Jobs of unknown length come first, lest a long one begins late.
#include <limits>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_makespan(const View& view, const StageView& stage) {
  const double known = view.jobs[stage.job].remaining_seconds;
  const double remaining = known < 0 ? std::numeric_limits<double>::infinity() : known;
  return Rank{-remaining, stage.ready_at, static_cast<double>(stage.id)};
}

}  // namespace attune::jobs
