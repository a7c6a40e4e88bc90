// How programs for CUDA cards are tuned: by the templates and the analytic model of all devices
// with blocks and threads, and measured in a process that is started for the card.
#include "tuner/tuning/tuning.h"

#include "targets/cuda/tuning/cage.h"
#include "tuner/cost_model/launches/launch_model.h"
#include "tuner/measure/device_runner/device_runner.h"
#include "tuner/templates/launches/launches.h"

namespace attune::cuda {
namespace {

std::unique_ptr<cost_model::CostModel> prior(const target::Target& target, bool) {
  return std::make_unique<cost_model::LaunchModel>(target);
}

// The card is none of the cores: all of them build while it measures. One waits for it.
tuning::CorePlan plan_cores(const std::vector<int>& available, const target::Target&) {
  std::vector<int> measure;
  if (!available.empty()) measure.push_back(available.front());
  return {measure, available, true};
}

Result<std::unique_ptr<measure::Runner>> start_runner(const tuning::RunnerOptions& options) {
  const target::Target& target = options.target;
  const std::string_view architecture = target.attribute("arch");
  return device_runner::start_device_runner(
      {.kind = "cuda",
       .target = target::to_string(target),
       .device = architecture.empty() ? "cuda" : "cuda " + std::string(architecture),
       .launch_us = target.launch.launch_us,
       .rotate_bytes = 2 * target.launch.l2_bytes});
}

std::string device() { return "cuda"; }

// Multiply-adds of f32 by all multiprocessors, of which each is two operations.
Result<double> peak_gflops(const target::Target& target) {
  const target::LaunchFacts& launch = target.launch;
  return 2 * launch.fmas_per_cycle * static_cast<double>(launch.multiprocessors) * launch.ghz;
}

}  // namespace

extern const tuning::Tuning target_tuning;
const tuning::Tuning target_tuning = {
    .kind = "cuda",
    .templates = templates::launches,
    .prior = prior,
    .plan_cores = plan_cores,
    .start_runner = start_runner,
    .device = device,
    .cage = kCage,
    .peak_gflops = peak_gflops,
};

}  // namespace attune::cuda
