#include <algorithm>
#include <limits>
#include <map>

#include "fleet/jobs/simulation/replay.h"

namespace attune::jobs {
namespace {

RecordedJob job_of(const v1::Job& job) {
  return {.name = job.spec().name(),
          .user = job.spec().user(),
          .priority = job.spec().priority() > 0 ? job.spec().priority() : 1.0,
          .prefetch = std::max(1, job.spec().prefetch()),
          .submitted_at = job.submitted_at()};
}

std::uint32_t kind_of(RecordedJob& job, const std::string& name) {
  const auto known = std::find(job.kinds.begin(), job.kinds.end(), name);
  if (known == job.kinds.end()) job.kinds.push_back(name);
  const auto place = std::find(job.kinds.begin(), job.kinds.end(), name);
  return static_cast<std::uint32_t>(place - job.kinds.begin());
}

// Makes the earliest submission the beginning.
void count_from_the_beginning(RecordedRun& run) {
  double begin = std::numeric_limits<double>::infinity();
  for (const RecordedJob& job : run.jobs) begin = std::min(begin, job.submitted_at);
  for (RecordedJob& job : run.jobs) job.submitted_at -= begin;
  for (RecordedStage& stage : run.stages) {
    stage.ready_at -= begin;
    stage.started_at -= begin;
    stage.ended_at -= begin;
  }
}

}  // namespace

Result<RecordedRun> recorded_run(const std::vector<Pool>& pools, const std::vector<JobRow>& jobs,
                                 const std::vector<StageRow>& stages) {
  RecordedRun run{.pools = pools};
  std::map<std::string, const v1::Job*> wanted;
  for (const JobRow& row : jobs) wanted[row.job.id()] = &row.job;
  std::map<std::string, std::size_t> places;
  for (const StageRow& row : stages) {
    const v1::Bar& bar = row.bar;
    const auto job = wanted.find(bar.job());
    const auto pool = std::find_if(pools.begin(), pools.end(),
                                   [&](const Pool& p) { return p.name == bar.pool(); });
    if (job == wanted.end() || pool == pools.end() || bar.ended_at() <= bar.started_at()) continue;
    const auto [place, is_new] = places.emplace(bar.job(), run.jobs.size());
    if (is_new) run.jobs.push_back(job_of(*job->second));
    RecordedStage stage{.job = place->second,
                        .kind = kind_of(run.jobs[place->second], bar.kind()),
                        .pool = static_cast<std::uint32_t>(pool - pools.begin()),
                        .ready_at = bar.ready_at(),
                        .started_at = bar.started_at(),
                        .ended_at = bar.ended_at()};
    if (bar.slots_size() > 0) stage.slots.assign(bar.slots().begin(), bar.slots().end());
    // The pool may have become smaller since.
    if (stage.amount() > pool->capacity) {
      stage.slots.resize(static_cast<std::size_t>(pool->capacity));
    }
    run.stages.push_back(std::move(stage));
  }
  if (run.stages.empty()) {
    return Error{ErrorCode::NotFound, "no stages of these jobs are recorded",
                 "'attune jobs' lists the jobs; those that ran have stages"};
  }
  count_from_the_beginning(run);
  return run;
}

}  // namespace attune::jobs
