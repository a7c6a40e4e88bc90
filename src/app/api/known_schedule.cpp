#include "app/api/known_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/api/text_file.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"
#include "tuner/tunings/tunings.h"

namespace attune::api {
namespace {

Error in_file(const std::string& path, const Error& error) {
  return {error.code, fmt::format("schedule '{}': {}", path, error.message), error.hint};
}

Result<KnownSchedule> schedule_from_file(const OperatorModel& model, const std::string& path) {
  ATTUNE_ASSIGN(const std::string text, read_text_file(path));
  Result<schedule::Trace> trace = schedule::parse_trace(text);
  if (!trace.ok()) return in_file(path, trace.error());
  Result<Algorithm> algorithm = model.algorithm_of(*trace);
  if (!algorithm.ok()) return in_file(path, algorithm.error());
  Result<schedule::State> state = schedule::replay(*algorithm->program, *trace);
  if (!state.ok()) return in_file(path, state.error());
  return KnownSchedule{std::move(*trace), std::move(*algorithm), ScheduleSource::File, {}};
}

bool allowed(const OperatorModel& model, const std::string& algorithm) {
  return std::find(model.allowed.begin(), model.allowed.end(), algorithm) != model.allowed.end();
}

// The fastest verified record that the options allow and that still fits the operator; nothing if
// there is none.
Result<std::optional<KnownSchedule>> best_of(const OperatorModel& model, const std::string& path) {
  constexpr std::size_t kLookedAt = 64;
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(path));
  const records::BestQuery query{.task_key = model.task.key, .target = model.target_text()};
  ATTUNE_ASSIGN(const std::vector<records::Record> top, store->top(query, kLookedAt));
  for (const records::Record& record : top) {
    Result<schedule::Trace> trace = schedule::parse_trace(record.trace);
    if (!trace.ok()) continue;
    Result<Algorithm> algorithm = model.algorithm_of(*trace);
    if (!algorithm.ok() || !allowed(model, algorithm->name)) continue;
    if (!schedule::replay(*algorithm->program, *trace).ok()) continue;
    return std::optional(KnownSchedule{std::move(*trace), std::move(*algorithm),
                                       ScheduleSource::Record,
                                       records::competing_time_us(record.outcome)});
  }
  return std::optional<KnownSchedule>();
}

// From the bundle, for an operator that nothing is known about here; else the default one.
Result<KnownSchedule> shipped_or_default(const OperatorModel& model) {
  ATTUNE_ASSIGN(const deploy::Bundle bundle, deploy::shipped_bundle());
  std::vector<deploy::ShippedSchedule> found =
      deploy::shipped_schedules(bundle, scheduled_task(model), model.target);
  if (found.empty()) return default_schedule(model);
  ATTUNE_ASSIGN(Algorithm algorithm, model.algorithm_of(found[0].trace));
  return KnownSchedule{
      std::move(found[0].trace), std::move(algorithm), ScheduleSource::Shipped, {}};
}

}  // namespace

std::string_view name_of(ScheduleSource source) {
  switch (source) {
    case ScheduleSource::File:
      return "file";
    case ScheduleSource::Record:
      return "record";
    case ScheduleSource::Shipped:
      return "shipped";
    case ScheduleSource::Default:
      break;
  }
  return "default";
}

Result<std::string> records_path(const std::string& option) {
  if (!option.empty()) return option;
  return records::default_records_path();
}

Result<std::optional<std::string>> history_path(const std::string& option) {
  if (option.empty() || option == "none") return std::optional<std::string>();
  std::error_code ignored;
  if (std::filesystem::exists(option, ignored)) return std::optional(option);
  return Error{ErrorCode::NotFound, fmt::format("there is no records file '{}'", option),
               "name an existing one with --history, or 'none'"};
}

KnownSchedule default_schedule(const OperatorModel& model) {
  const auto chosen =
      std::find_if(model.algorithms.begin(), model.algorithms.end(),
                   [&](const Algorithm& a) { return a.name == model.allowed.front(); });
  CHECK(chosen != model.algorithms.end(), "an algorithm is allowed that does not exist");
  schedule::Trace trace = tunings::default_trace(*chosen->program, model.target);
  if (chosen->name != "direct") trace.insert(trace.begin(), schedule::Algorithm{chosen->name});
  return {std::move(trace), *chosen, ScheduleSource::Default, {}};
}

deploy::ScheduledTask scheduled_task(const OperatorModel& model) {
  return {.key = model.task.key,
          .program_of = [&model](const std::string& name) -> const ir::Program* {
            for (const Algorithm& algorithm : model.algorithms) {
              if (algorithm.name == name && allowed(model, name)) return algorithm.program.get();
            }
            return nullptr;
          },
          .default_trace = default_schedule(model).trace};
}

Result<KnownSchedule> known_schedule(const OperatorModel& model, const ScheduleOptions& options) {
  if (!options.file.empty()) return schedule_from_file(model, options.file);
  if (options.use_default) return default_schedule(model);
  std::optional<KnownSchedule> best;
  ATTUNE_ASSIGN(const std::string own, records_path(options.records));
  std::vector<std::string> stores = {own};
  ATTUNE_ASSIGN(const std::optional<std::string> history, history_path(options.history));
  if (history) stores.push_back(*history);
  for (const std::string& path : stores) {
    ATTUNE_ASSIGN(std::optional<KnownSchedule> found, best_of(model, path));
    if (!found) continue;
    if (!best || found->recorded_us < best->recorded_us) best = std::move(found);
  }
  if (best) return std::move(*best);
  return options.history == "none" ? default_schedule(model) : shipped_or_default(model);
}

std::string describe(const KnownSchedule& known) {
  switch (known.source) {
    case ScheduleSource::File:
      return "the schedule of the file";
    case ScheduleSource::Record:
      return "the best schedule of the records";
    case ScheduleSource::Shipped:
      return "a schedule that ships with the program";
    case ScheduleSource::Default:
      break;
  }
  return "the default schedule";
}

}  // namespace attune::api
