// How programs for a kind of target are tuned, as its folder src/targets/NAME/tuning says it: which
// templates there are, what is predicted of a schedule before anything was measured, and who
// measures on which cores.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cage/cage.h"
#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/cost_model/cost_model.h"
#include "tuner/measure/runner.h"
#include "tuner/space/template.h"

namespace attune::tuning {

// Which cores measure and which build. With cores to spare the two do not meet and may happen at
// once; otherwise they take turns on all of them.
struct CorePlan {
  std::vector<int> measure = {};
  std::vector<int> build = {};
  bool overlap = false;
};

struct RunnerOptions {
  target::Target target = {};   // resolved
  std::vector<int> cores = {};  // empty: all that this process may use
};

struct Tuning {
  std::string_view kind;  // of targets
  // The first that fits a program schedules it; the last fits all.
  std::span<const space::Template> (*templates)();
  // Of kernels whose weights come from memory each time, or lie where the last call left them.
  std::unique_ptr<cost_model::CostModel> (*prior)(const target::Target& target, bool cold_weights);
  CorePlan (*plan_cores)(const std::vector<int>& available, const target::Target& target);
  // Isolates what it measures. Best called early, while the process is small and has one thread:
  // children are forks of it.
  Result<std::unique_ptr<measure::Runner>> (*start_runner)(const RunnerOptions& options);
  // What it measures on, for the records.
  std::string (*device)();
  // What its programs may ask the system for while they run, alone or in a model; nothing unless
  // said.
  CageRules cage = {};
  // Operations that it can do in a nanosecond at most, for reports.
  Result<double> (*peak_gflops)(const target::Target& target);
};

}  // namespace attune::tuning
