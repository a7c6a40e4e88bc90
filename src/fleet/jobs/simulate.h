// Jobs on a virtual clock, through the same scheduler that serves real ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/jobs/mock_job.h"
#include "fleet/jobs/scheduler.h"

namespace attune::jobs {

struct Experiment {
  std::vector<Pool> pools;
  std::vector<MockJob> jobs;
  double noise = 0;
  double heterogeneity = 0;
};

// One stage as it ran, for charts.
struct Bar {
  JobIndex job = 0;
  std::uint32_t kind = 0;
  std::uint32_t pool = 0;
  int slot = 0;
  double begin = 0, end = 0;
};

struct JobResult {
  double completed_at = 0;        // seconds after its submission
  double alone_seconds = 0;       // with all pools for itself
  double fair_share_seconds = 0;  // with its part of all pools, were they cut in equal parts
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

}  // namespace attune::jobs
