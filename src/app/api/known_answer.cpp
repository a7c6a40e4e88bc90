#include "app/api/known_answer.h"

#include "compiler/schedule/trace.h"

namespace attune::api {

Result<std::optional<TuneReport>> known_answer(const ModelOptions& options,
                                               const ScheduleOptions& records,
                                               double until_latency_ms) {
  std::optional<TuneReport> none;
  if (until_latency_ms <= 0 || records.history == "none") return none;
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, records));
  if (!known.recorded_us || *known.recorded_us * 1e-3 > until_latency_ms) return none;
  TuneReport report{.target = model.target_text(), .threads = model.target.threads};
  ATTUNE_ASSIGN(report.records, records_path(records.records));
  report.until_latency_ms = until_latency_ms;
  report.latency_ms = *known.recorded_us * 1e-3;
  TunedTask task{.key = model.task.key, .name = model.task.spec, .best_us = known.recorded_us};
  task.gflops = model.task.flops / (*known.recorded_us * 1e3);
  task.trace = schedule::to_string(known.trace);
  task.algorithm = known.algorithm.name;
  report.tasks.push_back(std::move(task));
  return std::optional(std::move(report));
}

}  // namespace attune::api
