#include "compiler/model/schedules/known_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>

#include "base/text_file.h"
#include "compiler/kernel/foreign_steps.h"
#include "compiler/model/schedules/former_task.h"
#include "compiler/model/schedules/known_rule.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::model {
namespace {

using Stores = std::vector<std::shared_ptr<records::Store>>;

Error in_file(const std::string& path, const Error& error) {
  return {error.code, fmt::format("schedule '{}': {}", path, error.message), error.hint};
}

Result<Schedule> schedule_of_file(const std::string& path) {
  ATTUNE_ASSIGN(const std::string text, read_text_file(path, kLargestSettingBytes));
  Result<schedule::Trace> trace = schedule::parse_trace(text);
  if (!trace.ok()) return in_file(path, trace.error());
  Schedule given = recorded_schedule(std::move(*trace));
  given.origin = Origin::File;
  return given;
}

// What one look-up of a task goes by.
struct LookUp {
  target::Target target = {};
  std::string target_text = {};
  Algorithms algorithms = {};
  std::shared_ptr<DefaultSchedules> defaults = {};
  bool cold = false;
  ir::Program former_program = {};
  Stores stores = {};
  Bundle bundle = {};
  std::mutex mutex = {};                       // of the stores and of what was found
  std::map<std::string, Schedule> found = {};  // by the keys of tasks
};

// Records of what the task was called before, with the loops that it has now.
Result<std::vector<records::Record>> former_records(records::Store& store, records::BestQuery query,
                                                    const ir::Program& own,
                                                    const ir::Program& now) {
  constexpr std::size_t kLookedAt = 64;
  std::vector<records::Record> found;
  const auto former = former_task(own, query.task_key);
  if (!former) return found;
  query.task_key = former->key;
  ATTUNE_ASSIGN(std::vector<records::Record> top, store.top(query, kLookedAt));
  for (records::Record& record : top) {
    const auto trace = renamed_loops(record.trace, former->program, now);
    if (!trace.ok()) continue;
    record.trace = schedule::to_string(*trace);
    found.push_back(std::move(record));
  }
  return found;
}

// The fastest verified record of a task that still fits it; `passed_over` says why one that is
// faster does not.
std::optional<Schedule> best_record(records::Store& store, const graph::Task& task,
                                    const LookUp& look_up, double& best_us,
                                    std::string& passed_over) {
  constexpr std::size_t kLookedAt = 64;
  const records::BestQuery query{.task_key = task.key,
                                 .target = look_up.target_text,
                                 .weights = weights_of(task, look_up.cold)};
  auto top = store.top(query, kLookedAt);
  if (!top.ok()) return std::nullopt;
  if (top->empty() && !look_up.former_program.stages.empty()) {
    top = former_records(store, query, look_up.former_program, task.op.program);
    if (!top.ok()) return std::nullopt;
  }
  for (const records::Record& record : *top) {
    const auto time = records::competing_time_us(record.outcome);
    if (!time || *time >= best_us) continue;
    const auto pass_over = [&](const std::string& why) {
      if (passed_over.empty()) passed_over = why;
    };
    auto trace = schedule::parse_trace(record.trace);
    if (!trace.ok()) {
      pass_over(trace.error().message);
      continue;
    }
    Schedule schedule = recorded_schedule(std::move(*trace));
    if (!look_up.algorithms.allow(schedule.algorithm)) continue;
    const ir::Program* program = program_of(task, schedule.algorithm);
    if (program == nullptr) {
      pass_over(fmt::format("the task has no algorithm '{}'", schedule.algorithm));
      continue;
    }
    if (const auto state = schedule::replay(*program, schedule.trace); !state.ok()) {
      pass_over(state.error().message);
      continue;
    }
    schedule.measured_us = best_us = *time;
    return schedule;
  }
  return std::nullopt;
}

// Whether one of the stores has an outcome of this schedule; also when that cannot be read.
bool any_tried(const LookUp& look_up, const graph::Task& task, const schedule::Trace& trace) {
  return std::any_of(look_up.stores.begin(), look_up.stores.end(), [&](const auto& store) {
    const auto known = store->known_traces(task.key, look_up.target_text);
    return !known.ok() || std::binary_search(known->begin(), known->end(), schedule::hash(trace));
  });
}

ScheduledTask described(const graph::Task& task, const Algorithms& algorithms, bool cold,
                        schedule::Trace default_trace) {
  return {.key = task.key,
          .weights = weights_of(task, cold),
          .program_of =
              [&task, algorithms](const std::string& algorithm) {
                return program_of(task, algorithm, algorithms);
              },
          .default_trace = std::move(default_trace)};
}

// What ships for the task, in place of another schedule; nothing where there is none, or where that
// one is a record and what ships was tried here.
std::optional<Schedule> shipped_schedule(LookUp& look_up, const graph::Task& task,
                                         const Schedule& instead) {
  const auto asked = described(task, look_up.algorithms, look_up.cold, instead.trace);
  auto found = shipped_schedules(look_up.bundle, asked, look_up.target);
  if (found.empty()) return std::nullopt;
  const bool recorded = instead.origin == Origin::Record;
  const std::lock_guard lock(look_up.mutex);
  if (recorded && any_tried(look_up, task, found[0].trace)) return std::nullopt;
  Schedule shipped = instead;
  shipped.algorithm = std::move(found[0].algorithm);
  shipped.trace = std::move(found[0].trace);
  shipped.origin = Origin::Shipped;
  // Of times from elsewhere only the proportions matter: they choose layouts.
  if (!recorded && found[0].measured) shipped.measured_us = found[0].time_us;
  return shipped;
}

Schedule known_schedule(LookUp& look_up, const graph::Task& task) {
  std::optional<Schedule> best;
  std::string passed_over;
  double best_us = std::numeric_limits<double>::infinity();
  {
    const std::lock_guard lock(look_up.mutex);
    const auto before = look_up.found.find(task.key);
    if (before != look_up.found.end()) return before->second;
    for (const auto& store : look_up.stores) {
      auto found = best_record(*store, task, look_up, best_us, passed_over);
      if (found) best = std::move(found);
    }
  }
  const auto shipped = [&](const Schedule& instead) {
    return shipped_schedule(look_up, task, instead);
  };
  const auto untuned = [&] {
    return look_up.defaults->of(task, look_up.target, look_up.algorithms, look_up.cold);
  };
  Schedule known = known_rule({std::move(best), shipped, untuned});
  known.passed_over = std::move(passed_over);
  const std::lock_guard lock(look_up.mutex);
  return look_up.found.try_emplace(task.key, std::move(known)).first->second;
}

Result<Stores> open_stores(const ScheduleOptions& schedule) {
  ATTUNE_ASSIGN(const std::string own, records_path(schedule.records));
  ATTUNE_ASSIGN(const std::optional<std::string> history, history_path(schedule.history));
  Stores stores;
  for (const std::string& path : {own, history.value_or("")}) {
    if (path.empty()) continue;
    ATTUNE_ASSIGN(auto store, records::open_sqlite_store_for_reading(path));
    stores.push_back(std::move(store));
  }
  return stores;
}

}  // namespace

std::string_view source_name(Origin origin) {
  switch (origin) {
    case Origin::File:
      return "file";
    case Origin::Record:
      return "record";
    case Origin::Shipped:
    case Origin::Default:
    case Origin::Plain:
      break;
  }
  return name_of(origin);
}

std::string describe(Origin origin) {
  switch (origin) {
    case Origin::File:
      return "the schedule of the file";
    case Origin::Record:
      return "the best schedule of the records";
    case Origin::Shipped:
      return "a schedule that ships with the program";
    case Origin::Default:
      return "the default schedule";
    case Origin::Plain:
      break;
  }
  return "no schedule";
}

std::string describe(const std::vector<Schedule>& schedules, const ScheduleOptions& options) {
  if (schedules.size() == 1) return describe(schedules.front().origin);
  const bool untuned = options.use_default || options.history == "none";
  return untuned ? "default schedules" : "the best schedules known";
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

ScheduledTask scheduled_task(const graph::Task& task, const LoadedModel& model) {
  return described(task, model.algorithms, model.cold_weights, model.default_of(task).trace);
}

Result<ChooseSchedule> known_schedules(const LoadedModel& model, const ScheduleOptions& schedule,
                                       const FindBundle& find_bundle) {
  if (!schedule.file.empty()) {
    ATTUNE_ASSIGN(const Schedule given, schedule_of_file(schedule.file));
    return ChooseSchedule([given](const graph::Task&) { return given; });
  }
  if (schedule.use_default || schedule.history == "none") {
    return ChooseSchedule([defaults = model.defaults, target = model.target,
                           algorithms = model.algorithms,
                           cold = model.cold_weights](const graph::Task& task) {
      return defaults->of(task, target, algorithms, cold);
    });
  }
  auto look_up = std::make_shared<LookUp>();
  look_up->target = model.target;
  look_up->target_text = model.target_text();
  look_up->algorithms = model.algorithms;
  look_up->defaults = model.defaults;
  look_up->cold = model.cold_weights;
  look_up->former_program = model.former_program;
  ATTUNE_ASSIGN(look_up->stores, open_stores(schedule));
  ATTUNE_ASSIGN(look_up->bundle, find_bundle());
  return ChooseSchedule(
      [look_up](const graph::Task& task) { return known_schedule(*look_up, task); });
}

Status check_file(const ModelTasks& tasks, const LoadedModel& model,
                  const ScheduleOptions& schedule) {
  if (schedule.file.empty()) return {};
  if (tasks.distinct.size() != 1) {
    return invalid(fmt::format("the schedule '{}' is for one task, but {} has {}", schedule.file,
                               model.name, tasks.distinct.size()),
                   "leave --schedule out; records hold the schedules of a model");
  }
  const graph::Task& task = tasks.distinct.front();
  auto given = schedule_of_file(schedule.file);
  if (!given.ok()) return given.error();
  const ir::Program* program = program_of(task, given->algorithm);
  if (program == nullptr) {
    std::string names = "direct";
    for (const ops::AlgorithmDef& other : task.op.alternatives) names += ", " + other.name;
    return in_file(schedule.file,
                   invalid(fmt::format("the schedule asks for algorithm '{}', which {} does not "
                                       "have",
                                       given->algorithm, task.op.program.name),
                           fmt::format("its algorithms are {}", names)));
  }
  const auto state = schedule::replay(*program, given->trace);
  if (!state.ok()) return in_file(schedule.file, state.error());
  const Status own = kernel::check_own_steps(given->trace, model.target);
  return own.ok() ? own : in_file(schedule.file, own.error());
}

}  // namespace attune::model
