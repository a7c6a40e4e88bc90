#include "tuner/whole_model/report/tune_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/schedule/algorithm.h"
#include "compiler/schedule/trace.h"
#include "tuner/session/driver.h"
#include "tuner/session/history.h"
#include "tuner/session/report.h"

namespace attune::whole_model {
namespace {

using Json = nlohmann::ordered_json;

std::string algorithm_named_by(const std::string& text) {
  const Result<schedule::Trace> trace = schedule::parse_trace(text);
  return schedule::algorithm_of(trace.ok() ? *trace : schedule::Trace());
}

TunedTask tuned_task(const session::TaskReport& report, double peak_gflops) {
  return {.key = report.key,
          .name = report.name,
          .trials = report.trials,
          .failed = report.failed,
          .failures = report.failures,
          .timed = report.timed,
          .rejected = report.rejected,
          .seed = report.seed,
          .best_us = report.best_us,
          .default_us = report.default_us,
          .gflops = report.gflops,
          .percent_of_peak = peak_gflops > 0 ? 100 * report.gflops / peak_gflops : 0,
          .seconds = report.seconds,
          .exhausted = report.exhausted,
          .resumed = report.resumed,
          .best_is_default = report.best_is_default,
          .default_failure = report.default_failure,
          .trace = report.best_trace,
          .algorithm = algorithm_named_by(report.best_trace)};
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json task_json(const TunedTask& task) {
  Json failures = Json::object();
  for (const auto& [kind, count] : task.failures) failures[kind] = count;
  return {{"key", task.key},
          {"name", task.name},
          {"trials", task.trials},
          {"failed", task.failed},
          {"failures", failures},
          {"rejected", task.rejected},
          {"best_us", or_null(task.best_us)},
          {"default_us", or_null(task.default_us)},
          {"gflops", task.gflops},
          {"percent_of_peak", task.percent_of_peak},
          {"seconds", task.seconds},
          {"exhausted", task.exhausted},
          {"resumed", task.resumed},
          {"seed", task.seed},
          {"uses", task.uses},
          {"algorithm", task.algorithm},
          {"trace", task.trace}};
}

}  // namespace

std::vector<FailedTrial> failures_of(const std::vector<records::Record>& failed,
                                     const std::string& key, const std::string& name) {
  std::vector<FailedTrial> result;
  for (const records::Record& one : failed) {
    result.push_back({.task_key = key,
                      .task = name,
                      .candidate = one.number,
                      .kind = std::string(outcome::kind_of(one.outcome)),
                      .reason = outcome::describe(one.outcome),
                      .trace = one.trace});
  }
  return result;
}

std::string_view name_of(Kept kept) {
  switch (kept) {
    case Kept::Default:
      return "default";
    case Kept::Known:
      return "known";
    case Kept::Tuned:
      break;
  }
  return "tuned";
}

void add_task(const session::TaskReport& task, std::int64_t uses, TuneReport& report) {
  report.tasks.push_back(tuned_task(task, report.peak_gflops));
  report.tasks.back().uses = uses;
  for (FailedTrial& example : failures_of(task.examples, task.key, task.name)) {
    const std::int64_t count = task.failures.at(example.kind);
    const auto known =
        std::find_if(report.failures.begin(), report.failures.end(),
                     [&](const FailureKind& each) { return each.kind == example.kind; });
    if (known != report.failures.end()) {
      known->count += count;
    } else {
      report.failures.push_back({example.kind, count, std::move(example)});
    }
  }
  std::stable_sort(report.failures.begin(), report.failures.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

LearntHistory learnt_history(const session::LoadedHistory& loaded) {
  LearntHistory learnt{.trials = loaded.counts.used,
                       .tasks = loaded.tasks(),
                       .left_out = {},
                       .text = session::describe(loaded)};
  for (const auto& [reason, count] : loaded.counts.left_out()) learnt.left_out[reason] = count;
  // A task with few trials so far is nothing to wonder about.
  const session::HistoryCounts& counts = loaded.counts;
  learnt.incomplete = counts.undefined + counts.damaged + counts.foreign > 0;
  return learnt;
}

void add_usage(const session::Usage& usage, const std::map<std::string, double>& run_seconds,
               double device_seconds, TuneReport& report) {
  if (report.seconds <= 0) return;
  report.device_busy = device_seconds / report.seconds;
  report.search_share = usage.search_seconds() / report.seconds;
  for (std::size_t i = 0; i < session::kStageKinds; ++i) {
    const auto kind = static_cast<session::StageKind>(i);
    report.stage_seconds[std::string(session::name_of(kind))] = usage.seconds_of[i];
  }
  for (const auto* stages : {&usage.run_seconds, &run_seconds}) {
    for (const auto& [kind, seconds] : *stages) report.stage_seconds[kind] += seconds;
  }
  report.wall_seconds = run_seconds;
  report.wall_seconds["rounds"] = usage.wall_seconds;
  double named = 0;
  for (const auto& [what, seconds] : report.wall_seconds) named += seconds;
  report.wall_seconds["other"] = std::max(0.0, report.seconds - named);
}

std::string to_json(const TuneReport& report) {
  Json json;
  json["tasks"] = Json::array();
  for (const TunedTask& task : report.tasks) json["tasks"].push_back(task_json(task));
  json["failures"] = Json::object();
  for (const FailureKind& each : report.failures) {
    json["failures"][each.kind] = {{"count", each.count},
                                   {"example",
                                    {{"task", each.example.task},
                                     {"key", each.example.task_key},
                                     {"candidate", each.example.candidate},
                                     {"reason", each.example.reason},
                                     {"trace", each.example.trace}}}};
  }
  json["trials_per_second"] = report.trials_per_second;
  json["device_busy"] = report.device_busy;
  if (!report.device_condition.empty()) json["device_condition"] = report.device_condition;
  json["search_share"] = report.search_share;
  json["stage_seconds"] = report.stage_seconds;
  json["wall_seconds"] = report.wall_seconds;
  json["latency_ms"] = or_null(report.latency_ms);
  json["default_latency_ms"] = or_null(report.default_latency_ms);
  json["seconds"] = report.seconds;
  json["seed"] = report.seed;
  json["peak_gflops"] = report.peak_gflops;
  json["threads"] = report.threads;
  json["target"] = report.target;
  json["precision"] = report.precision;
  json["records"] = report.records;
  json["history"] = {{"trials", report.history.trials},
                     {"tasks", report.history.tasks},
                     {"left_out", report.history.left_out}};
  if (!report.output.empty()) {
    json["output"] = report.output;
    json["kept"] = name_of(report.kept);
    json["known_latency_ms"] = or_null(report.known_latency_ms);
    json["changed_inside"] = report.changed_inside;
    if (!report.inside_failure.empty()) json["inside_failure"] = report.inside_failure;
    json["fallbacks"] = model::fallbacks_json(report.fallbacks);
  }
  json["stopped"] = report.stopped;
  if (!report.log_failure.empty()) json["log_failure"] = report.log_failure;
  if (report.until_latency_ms) {
    json["until_latency_ms"] = *report.until_latency_ms;
    json["reached"] = report.reached();
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attune::whole_model
