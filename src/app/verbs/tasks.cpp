#include "app/verbs/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/verbs/bench.h"
#include "base/answer_reader.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "compiler/model/bound.h"
#include "compiler/model/load/caged_model.h"
#include "compiler/model/load/input_files.h"
#include "compiler/model/load/machine_limits.h"

namespace attune::verbs {
namespace {

// Milliseconds of one run by kernel; host operators are under "".
Result<std::map<std::string, double>> kernel_times(const model::RunnableModel& model,
                                                   const TasksOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const auto inputs, model::inputs_for(model.plan(), {}, options.seed));
    ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, true));
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(model));
    const SteadyClock clock;
    ATTUNE_RETURN_IF_ERROR(session.run(inputs));  // to warm up
    runtime::Profile profile;
    std::int64_t runs = 0;
    const std::int64_t start = clock.now_ns();
    do {
      ATTUNE_RETURN_IF_ERROR(session.run(inputs, &profile));
      ++runs;
    } while (seconds_between(start, clock.now_ns()) < options.seconds);
    std::map<std::string, double, std::less<>> times;
    const auto& kernels = model.plan().kernels;
    for (const LayerRow& row : layer_rows(profile, runs)) {
      const bool is_kernel = std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) {
        return kernel.symbol == row.kernel;
      });
      times[is_kernel ? row.kernel : ""] += row.milliseconds;
    }
    Bytes bytes;
    for (const auto& kernel : kernels) append_value(bytes, times[kernel.symbol]);
    append_value(bytes, times[""]);
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated(model.name, work, model::limits_for(model)));
  AnswerReader reader(answer);
  std::map<std::string, double> times;
  for (const auto& kernel : model.plan().kernels) times[kernel.symbol] = reader.value<double>();
  times[""] = reader.value<double>();
  ATTUNE_RETURN_IF_ERROR(reader.status());
  return times;
}

Status add_times(const model::CompiledModel& compiled, const TasksOptions& options,
                 TasksReport& report) {
  ATTUNE_ASSIGN(const model::RunnableModel runnable, model::runnable_of(compiled));
  ATTUNE_ASSIGN(const auto times, kernel_times(runnable, options));
  double total = 0;
  for (const auto& [kernel, milliseconds] : times) total += milliseconds;
  report.milliseconds = total;
  const auto percent = [&](double milliseconds) {
    return total > 0 ? 100 * milliseconds / total : 0;
  };
  for (std::size_t i = 0; i < report.tasks.size(); ++i) {
    report.tasks[i].milliseconds = times.at(compiled.plan.kernels[i].symbol);
    report.tasks[i].percent = percent(*report.tasks[i].milliseconds);
  }
  report.other_percent = percent(times.at(""));
  std::stable_sort(
      report.tasks.begin(), report.tasks.end(),
      [](const TaskRow& a, const TaskRow& b) { return a.milliseconds > b.milliseconds; });
  return {};
}

}  // namespace

Result<TasksReport> tasks(const TasksOptions& options) {
  ATTUNE_ASSIGN(model::LoadedModel model,
                model::load_source(options.source.model, "does not know its tasks",
                                   "name the model that it was compiled from"));
  if (options.run) ATTUNE_RETURN_IF_ERROR(model::check_runs_here(model.target));
  TasksReport report{.model = model.name,
                     .target = model.target_text(),
                     .threads = model.target.threads,
                     .precision = std::string(ops::name_of(model.precision))};
  ATTUNE_ASSIGN(model::PreparedModel prepared,
                model::prepare_model(std::move(model), options.source));
  const model::ModelTasks& found = prepared.tasks;
  for (std::size_t i = 0; i < found.distinct.size(); ++i) {
    const graph::Task& task = found.distinct[i];
    const model::Schedule& known = prepared.schedules[i];
    report.tasks.push_back(
        {task.key, task.name, found.uses[i], known.algorithm, task.op.flops,
         std::string(model::source_name(known.origin)),
         model::bound_us(task, prepared.model.target, prepared.model.cold_weights),
         known.recorded_us()});
  }
  if (!options.run) return report;
  ATTUNE_ASSIGN(const model::CompiledModel compiled, model::compile_prepared(std::move(prepared)));
  ATTUNE_RETURN_IF_ERROR(add_times(compiled, options, report));
  return report;
}

std::string to_json(const TasksReport& report) {
  nlohmann::ordered_json json{{"model", report.model},
                              {"target", report.target},
                              {"threads", report.threads},
                              {"precision", report.precision}};
  json["tasks"] = nlohmann::ordered_json::array();
  for (const TaskRow& row : report.tasks) {
    nlohmann::ordered_json task{{"key", row.key},     {"name", row.name},
                                {"uses", row.uses},   {"algorithm", row.algorithm},
                                {"flops", row.flops}, {"schedule", row.schedule}};
    task["bound_us"] = row.bound_us;
    if (row.recorded_us) task["best_us"] = *row.recorded_us;
    if (row.milliseconds) task["latency_ms"] = *row.milliseconds;
    if (row.percent) task["percent"] = *row.percent;
    if (const auto percent = row.percent_of_bound()) task["percent_of_bound"] = *percent;
    json["tasks"].push_back(std::move(task));
  }
  if (report.milliseconds) json["latency_ms"] = *report.milliseconds;
  if (report.other_percent) json["other_percent"] = *report.other_percent;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs
