#include "tuner/whole_model/known_answer.h"

#include "compiler/model/load/prepared_model.h"
#include "compiler/schedule/trace.h"

namespace attune::whole_model {

Result<std::optional<TuneReport>> known_answer(model::LoadedModel model,
                                               const model::ModelOptions& options,
                                               const model::ScheduleOptions& records,
                                               double until_latency_ms) {
  std::optional<TuneReport> none;
  if (until_latency_ms <= 0 || records.history == "none") return none;
  CHECK(!model.facts.contest, "what records say of tasks does not decide a contest");
  ATTUNE_ASSIGN(const model::PreparedModel prepared,
                model::prepare_model(std::move(model), {.model = options, .schedule = records}));
  const graph::Task& task = prepared.tasks.distinct.front();
  const model::Schedule& known = prepared.schedules.front();
  const std::optional<double> recorded_us = known.recorded_us();
  if (!recorded_us || *recorded_us * 1e-3 > until_latency_ms) return none;
  const target::Target& target = prepared.compile.target;
  TuneReport report{.target = target::to_string(target),
                    .precision = std::string(ops::name_of(prepared.compile.precision)),
                    .threads = target.threads};
  ATTUNE_ASSIGN(report.records, model::records_path(records.records));
  report.until_latency_ms = until_latency_ms;
  report.latency_ms = *recorded_us * 1e-3;
  TunedTask tuned{.key = task.key, .name = task.name, .best_us = recorded_us};
  tuned.gflops = task.op.flops / (*recorded_us * 1e3);
  tuned.trace = schedule::to_string(known.trace);
  tuned.algorithm = known.algorithm;
  report.tasks.push_back(std::move(tuned));
  return std::optional(std::move(report));
}

}  // namespace attune::whole_model
