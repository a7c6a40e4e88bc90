#include "tuner/tuning/tuning.h"

#include "base/cage/host_calls.h"
#include "targets/sim/facts/facts.h"
#include "targets/sim/tuning/runner.h"
#include "tuner/cost_model/launches/launch_model.h"
#include "tuner/templates/launches/launches.h"

namespace attune::sim {
namespace {

std::unique_ptr<cost_model::CostModel> prior(const target::Target& target, bool) {
  return std::make_unique<cost_model::LaunchModel>(target);
}

// Its time is counted: where it runs does not matter.
tuning::CorePlan plan_cores(const std::vector<int>& available, const target::Target&) {
  return {available, available, false};
}

Result<std::unique_ptr<measure::Runner>> start(const tuning::RunnerOptions& options) {
  return start_runner(options.target);
}

std::string device() { return "simulated"; }

// One operation in a cycle by each lane.
Result<double> peak_gflops(const target::Target& target) {
  ATTUNE_ASSIGN(const Machine machine, machine_of(target));
  return static_cast<double>(machine.multiprocessors * machine.warp * machine.clock_mhz) * 1e-3;
}

}  // namespace

extern const tuning::Tuning target_tuning;
const tuning::Tuning target_tuning = {
    .kind = "sim",
    .templates = templates::launches,
    .prior = prior,
    .plan_cores = plan_cores,
    .start_runner = start,
    .device = device,
    .cage = {.calls = kHostCalls},  // the interpreter's
    .peak_gflops = peak_gflops,
};

}  // namespace attune::sim
