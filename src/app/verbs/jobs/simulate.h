// Job scheduling on a virtual clock: how policies compare on given stage times, without running
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::verbs {

struct SimulateOptions {
  std::string plan = {};  // a file; the fields up to heterogeneity are not used then
  int jobs = 4, host = 1, device = 1;
  int batches = 60, prefetch = 1;
  std::string stages = "build=8.3,profile=39.5,update=44.0";
  double noise = 0.3, heterogeneity = 0.6;
  std::vector<std::string> policies = {"makespan"};  // "all": all of them
  int seeds = 20;
  std::uint64_t first_seed = 0;
  std::string gantt = {};  // a file for the chart of the first policy and seed
};

struct SimulatedPolicy {
  std::string policy = {};
  double ratio_mean = 0, ratio_max = 0;  // makespan ÷ lower bound
  double completion_mean = 0;            // of a job ÷ alone
  double share_max = 0;                  // of a job ÷ with an equal part of everything
  double makespan_mean_seconds = 0, lower_bound_mean_seconds = 0;
  std::vector<double> utilisation = {};  // by pool
  std::vector<double> slowdowns = {};    // by job: completion ÷ alone, mean over the seeds
};

struct SimulateReport {
  std::vector<std::string> pools = {};
  std::vector<std::string> jobs = {};
  std::vector<SimulatedPolicy> policies = {};
  int seeds = 0;
  std::int64_t stages = 0;  // simulated in all
  std::string gantt = {};
};

Result<SimulateReport> simulate(const SimulateOptions& options);
std::string to_json(const SimulateReport& report);

}  // namespace attune::verbs
