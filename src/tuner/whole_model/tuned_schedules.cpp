#include "tuner/whole_model/tuned_schedules.h"

#include <utility>

#include "base/check.h"
#include "tuner/whole_model/alternatives.h"

namespace attune::whole_model {
namespace {

bool same_trace(const model::Schedule& one, const model::Schedule& other) {
  return schedule::hash(one.trace) == schedule::hash(other.trace);
}

Result<bool> was_tried(const model::Schedule& schedule, const session::TaskReport& report,
                       records::Store& store) {
  if (report.best_trace == schedule::to_string(schedule.trace)) return true;
  const std::uint64_t hash = schedule::hash(schedule.trace);
  bool tried = false;
  ATTUNE_RETURN_IF_ERROR(store.visit({.task = report.key, .session = report.session},
                                     [&](const records::Record& record) {
                                       tried = tried || record.trace_hash == hash;
                                       return Status();
                                     }));
  return tried;
}

}  // namespace

model::Schedule tuned_schedule(const session::TaskReport& report, const model::Schedule& untuned,
                               const model::Schedule& known, bool tried) {
  if (!report.best_us) return known;
  model::Schedule found = untuned;
  if (!report.best_is_default) {
    auto trace = schedule::parse_trace(report.best_trace);
    if (!trace.ok()) return known;
    found = model::recorded_schedule(std::move(*trace));
  }
  // Times of one session compare better with each other than with those of another day.
  if (tried || same_trace(found, known)) return found;
  const std::optional<double> recorded_us = known.recorded_us();
  const bool better = recorded_us ? *recorded_us < *report.best_us : report.best_is_default;
  return better ? known : found;
}

Result<std::vector<std::vector<model::Schedule>>> tuned_schedules(const TunedTasks& tuned,
                                                                  records::Store& store) {
  const std::vector<graph::Task>& tasks = tuned.tasks.distinct;
  CHECK(tuned.known.size() == tasks.size() && tuned.reports.size() == tasks.size(),
        "every task has a report");
  std::vector<std::vector<model::Schedule>> result;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const session::TaskReport& report = tuned.reports[i];
    const auto untuned = tuned.model.default_of(tasks[i]);
    ATTUNE_ASSIGN(const bool tried, was_tried(tuned.known[i], report, store));
    const auto best = tuned_schedule(report, untuned, tuned.known[i], tried);
    const TrySchedules which{
        .query = {.task_key = tasks[i].key,
                  .target = tuned.model.target_text(),
                  .weights = model::weights_of(tasks[i], tuned.model.cold_weights)},
        .session = tuned.all_sessions ? 0 : report.session,
        .algorithms = tuned.model.algorithms,
        .most = tuned.most};
    ATTUNE_ASSIGN(auto schedules, schedules_to_try(tasks[i], best, which, store));
    result.push_back(std::move(schedules));
  }
  return result;
}

}  // namespace attune::whole_model
