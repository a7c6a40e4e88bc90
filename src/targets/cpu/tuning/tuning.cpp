#include "tuner/tuning/tuning.h"

#include "targets/cpu/tuning/local_runner.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/model/analytic.h"
#include "tuner/templates/templates.h"

namespace attune::cpu {
namespace {

std::unique_ptr<model::CostModel> prior(const target::Target& target) {
  return std::make_unique<model::AnalyticModel>(target);
}

Result<std::unique_ptr<measure::Runner>> start_runner(const tuning::RunnerOptions& options) {
  ATTUNE_ASSIGN(std::unique_ptr<LocalRunner> runner, LocalRunner::start(options));
  return std::unique_ptr<measure::Runner>(std::move(runner));
}

std::string device() { return probe::describe_machine().cpu; }

}  // namespace

extern const tuning::Tuning target_tuning;
const tuning::Tuning target_tuning = {
    .kind = "cpu",
    .templates = templates::all,
    .prior = prior,
    .plan_cores = plan_cores,
    .start_runner = start_runner,
    .device = device,
};

}  // namespace attune::cpu
