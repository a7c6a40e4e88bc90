// Finish-time fairness (as in Themis, Mahajan et al. 2020): the job whose end, as things stand, is
// furthest behind the time it would take alone goes first, so that all are slowed down alike. Time
// that passes without service lets a job grow old and come first in the end; priorities are
// weights, and whoever is above the quota waits for those who are not.
#include <algorithm>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

std::optional<Rank> rank(const View& view, const StageView& stage) {
  const JobView& job = view.jobs[stage.job];
  const UserView& user = view.users[job.user];
  const bool above = user.quota > 0 && user.running + stage.amount > user.quota;
  const double left = std::max(job.remaining_seconds, 0.0);
  const double alone = std::max(job.attained_seconds + left, 1e-9);
  const double delay = (view.now - job.submitted_at + left) / alone;
  return Rank{above ? 1.0 : 0.0, -delay * job.priority, stage.ready_at};
}

// How long a job will take is often not known before a worker has it: what counts is how long it
// waits, by its priority, and how many workers its user has already. Each of these can fill a unit.
Rank queue(const View& view, const JobView& job) {
  const UserView& user = view.users[job.user];
  const bool above = user.quota > 0 && user.jobs >= user.quota;
  const double waits = (view.now - job.submitted_at) * job.priority / (1 + user.jobs);
  return {above ? 1.0 : 0.0, -waits, job.submitted_at};
}

}  // namespace

Policy fair_share_policy() {
  return {.name = "fair-share",
          .summary = "the job that fell behind its share most first, by priority and quota",
          .rank = rank,
          .queue = queue,
          .has_quotas = true};
}

}  // namespace attune::jobs
