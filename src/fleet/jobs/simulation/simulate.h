// Jobs on a virtual clock, through the same scheduler that serves real ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fleet/jobs/scheduler/scheduler.h"
#include "fleet/jobs/simulation/mock_job.h"

namespace attune::jobs {

struct Experiment {
  std::vector<Pool> pools;
  std::vector<MockJob> jobs;
  double noise = 0;
  double heterogeneity = 0;
  std::map<std::string, int> quotas = {};  // of users: units of all pools at once
};

// One stage as it ran, for charts.
struct Bar {
  JobIndex job = 0;
  std::uint32_t kind = 0;
  std::uint32_t pool = 0;
  std::vector<int> slots = {};  // units of the pool, from 0
  double begin = 0, end = 0;
};

struct JobResult {
  double completed_at = 0;        // seconds after its submission
  double alone_seconds = 0;       // with all pools for itself
  double fair_share_seconds = 0;  // with its part of all pools, were they cut in equal parts for
                                  // all jobs that were there during its time
};

struct SimulatedRun {
  double makespan = 0;
  double lower_bound = 0;
  std::vector<JobResult> jobs;
  std::vector<double> utilisation;  // of each pool, until the last job ended
  std::int64_t stages = 0;
  std::vector<Bar> bars;  // when asked for

  double ratio() const { return makespan / lower_bound; }
  double mean_slowdown() const;      // time from submission to end ÷ alone
  double worst_share_ratio() const;  // the same ÷ fair share
};

// Same seed, same run.
SimulatedRun simulate(const Experiment& experiment, const Policy& policy, std::uint64_t seed,
                      bool with_bars = false);

// max(work of a pool ÷ its capacity, critical path of a job after its submission).
double lower_bound(const std::vector<Pool>& pools, const std::vector<DrawnJob>& jobs);

// When a job was there.
struct Stay {
  double from = 0, to = 0;
};
// For each, how many there were during some of its time, itself included.
std::vector<std::size_t> jobs_present(const std::vector<Stay>& stays);

}  // namespace attune::jobs
