// The last job ends soonest when the busiest pool (the bottleneck) never idles. It idles towards
// the end, when the few jobs that are left work on other pools and nothing overlaps with that. So
// on the bottleneck the stage goes first whose job has the most work to come on other pools
// (Johnson 1954, Jackson 1955); of two with equally much, the shorter one. A job that went first
// stays first until it ends, so that equal jobs do not reach their ends together. On other pools
// the job with the most work left goes first. Jobs of unknown length come before all, in case they
// are long.
#include <algorithm>
#include <cmath>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-3;
// On the busiest pool a job counts between what is left of it (0) and what it was as a whole (1).
// With 0 all jobs end together, with 1 a long one may find too late that nothing is beside it.
constexpr double kWholeWeight = 0.85;
// What is to come on the busiest pool itself counts at least this much.
constexpr double kLeastShare = 0.2;

// Seconds that a job will go on besides what is work of the busiest pool. Where that has several
// units they work side by side, and a job that needs one of them for long is to begin early.
double seconds_besides(const View& view, const JobView& job) {
  double elsewhere = 0;
  for (const double work : job.work_left) elsewhere += work;
  elsewhere -= job.work_left[view.busiest] / view.pools[view.busiest].capacity;
  return std::clamp(elsewhere, kLeastShare * job.remaining_seconds, job.remaining_seconds);
}

double growth_to_whole(const JobView& job) {
  const double left = std::max(job.remaining_seconds, kLeastSeconds);
  return std::pow((job.attained_seconds + left) / left, kWholeWeight);
}

std::optional<Rank> rank(const View& view, const StageView& stage) {
  const JobView& job = view.jobs[stage.job];
  if (job.remaining_seconds < 0) return Rank{0.0, stage.ready_at, 0.0};
  double to_come = job.remaining_seconds;
  if (stage.pool == view.busiest) {
    if (!job.work_left.empty()) to_come = seconds_besides(view, job);
    to_come *= growth_to_whole(job);
  }
  const double urgency = to_come / std::sqrt(std::max(stage.predicted_seconds, kLeastSeconds));
  return Rank{1.0, -urgency, stage.ready_at};
}

}  // namespace

Policy makespan_policy() {
  return {.name = "makespan",
          .summary = "what leads to most work elsewhere first: all end early",
          .rank = rank};
}

}  // namespace attune::jobs
