#include "tuner/tuning/tuning.h"

#include "runtime/execution/usable_cores.h"
#include "targets/cpu/tuning/cage.h"
#include "targets/cpu/tuning/local_runner.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/templates/templates.h"

namespace attune::cpu {
namespace {

std::unique_ptr<cost_model::CostModel> prior(const target::Target& target, bool cold_weights) {
  return std::make_unique<cost_model::AnalyticModel>(target, cold_weights);
}

Result<std::unique_ptr<measure::Runner>> start_runner(const tuning::RunnerOptions& options) {
  ATTUNE_ASSIGN(std::unique_ptr<LocalRunner> runner, LocalRunner::start(options));
  return std::unique_ptr<measure::Runner>(std::move(runner));
}

std::string device() { return probe::describe_machine().cpu; }

// Measured, in the threads of the target.
Result<double> peak_gflops(const target::Target& target) {
  probe::PeakOptions options;
  options.cores = runtime::usable_cores(target.threads);
  options.cores.resize(static_cast<std::size_t>(target.threads));
  options.seconds = 0.05;
  options.triad_bytes = std::int64_t{1} << 20;  // the bandwidth is not asked for
  ATTUNE_ASSIGN(const probe::Peaks peaks, probe::measure_peaks(options));
  return peaks.peak_gflops_all;
}

}  // namespace

extern const tuning::Tuning target_tuning;
const tuning::Tuning target_tuning = {
    .kind = "cpu",
    .templates = templates::all,
    .prior = prior,
    .plan_cores = plan_cores,
    .start_runner = start_runner,
    .device = device,
    .cage = kCage,
    .peak_gflops = peak_gflops,
};

}  // namespace attune::cpu
