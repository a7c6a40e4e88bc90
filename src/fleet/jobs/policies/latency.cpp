// Shortest remaining processing time first; jobs of unknown length by the service they had, least
// first, among the others as if as much again were to come.
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_latency(const View& view, const StageView& stage) {
  const JobView& job = view.jobs[stage.job];
  const double left = job.remaining_seconds < 0 ? job.attained_seconds : job.remaining_seconds;
  return Rank{left, stage.ready_at, static_cast<double>(stage.id)};
}

}  // namespace attune::jobs
