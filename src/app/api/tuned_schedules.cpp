#include "app/api/tuned_schedules.h"

#include <utility>

#include "app/api/alternatives.h"
#include "base/check.h"

namespace attune::api {
namespace {

bool same_trace(const deploy::Schedule& one, const deploy::Schedule& other) {
  return schedule::hash(one.trace) == schedule::hash(other.trace);
}

Result<bool> was_tried(const deploy::Schedule& schedule, const session::TaskReport& report,
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

deploy::Schedule tuned_schedule(const session::TaskReport& report, const deploy::Schedule& untuned,
                                const KnownTask& known, bool tried) {
  if (!report.best_us) return known.schedule;
  deploy::Schedule found = untuned;
  if (!report.best_is_default) {
    auto trace = schedule::parse_trace(report.best_trace);
    if (!trace.ok()) return known.schedule;
    found = deploy::recorded_schedule(std::move(*trace));
  }
  // Times of one session compare better with each other than with those of another day.
  if (tried || same_trace(found, known.schedule)) return found;
  const bool better =
      known.recorded_us ? *known.recorded_us < *report.best_us : report.best_is_default;
  return better ? known.schedule : found;
}

Result<std::vector<std::vector<deploy::Schedule>>> tuned_schedules(const TunedTasks& tuned,
                                                                   records::Store& store) {
  const std::vector<graph::Task>& tasks = tuned.tasks.distinct;
  CHECK(tuned.known.size() == tasks.size() && tuned.reports.size() == tasks.size(),
        "every task has a report");
  std::vector<std::vector<deploy::Schedule>> result;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const session::TaskReport& report = tuned.reports[i];
    const auto untuned = deploy::default_schedule(tasks[i], tuned.target, tuned.algorithms);
    ATTUNE_ASSIGN(const bool tried, was_tried(tuned.known[i].schedule, report, store));
    const auto best = tuned_schedule(report, untuned, tuned.known[i], tried);
    const TrySchedules which{.query = {.task_key = tasks[i].key,
                                       .target = target::to_string(tuned.target),
                                       .weights = weights_of(tasks[i], tuned.cold)},
                             .session = tuned.all_sessions ? 0 : report.session,
                             .algorithms = tuned.algorithms,
                             .most = tuned.most};
    ATTUNE_ASSIGN(auto schedules, schedules_to_try(tasks[i], best, which, store));
    result.push_back(std::move(schedules));
  }
  return result;
}

}  // namespace attune::api
