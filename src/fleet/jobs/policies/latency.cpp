// Shortest remaining processing time first; jobs of unknown length by the service they had, least
// first, among the others as if as much again were to come. What is twice as important may be twice
// as long (as in Smith 1956).
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

double weighted_seconds(const JobView& job) {
  return (job.remaining_seconds < 0 ? job.attained_seconds : job.remaining_seconds) / job.priority;
}

std::optional<Rank> rank(const View& view, const StageView& stage) {
  return Rank{weighted_seconds(view.jobs[stage.job]), stage.ready_at,
              static_cast<double>(stage.id)};
}

Rank queue(const View&, const JobView& job) { return {weighted_seconds(job), job.submitted_at, 0}; }

}  // namespace

Policy latency_policy() {
  return {.name = "latency",
          .summary = "the job with least work left first: each ends early",
          .rank = rank,
          .queue = queue};
}

}  // namespace attune::jobs
