// Which schedule a task is compiled with: that of a file, the best that was ever measured, one that
// ships with the program, or the default of its template. One rule for the tasks of all models:
// known_rule.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/schedules.h"
#include "compiler/model/schedules/shipped.h"

namespace attune::model {

struct ScheduleOptions {
  std::string file = {};     // a trace in text, for a model of one task; empty: none
  bool use_default = false;  // whatever is known
  std::string records = {};  // the store; empty: the default one
  // A further store to look into; "none": no records, and no schedules that ship with the program.
  std::string history = {};
};

// Where a schedule comes from, in reports: "file", "record", "shipped", "default".
std::string_view source_name(Origin origin);
// "the best schedule of the records", for a person.
std::string describe(Origin origin);
// Of a model's schedules, for a person: "the best schedules known", and of one where it is from.
std::string describe(const std::vector<Schedule>& schedules, const ScheduleOptions& options);

// The path of the store that the user means.
Result<std::string> records_path(const std::string& option);

// Another store that the user named, or nothing when he named none; it must exist.
Result<std::optional<std::string>> history_path(const std::string& option);

// The task as the bundle's look-up sees it; `task` must outlive it.
ScheduledTask scheduled_task(const graph::Task& task, const LoadedModel& model);

// What is known of the tasks of a model, which may ask from several threads. Who asks again hears
// the same, whatever has been recorded since. Of a schedule's file see check_file().
using FindBundle = std::function<Result<Bundle>()>;
Result<ChooseSchedule> known_schedules(const LoadedModel& model, const ScheduleOptions& schedule,
                                       const FindBundle& find_bundle = shipped_bundle);

// Fails when the schedule's file, if there is one, is not for the one task of a model.
Status check_file(const ModelTasks& tasks, const LoadedModel& model,
                  const ScheduleOptions& schedule);

}  // namespace attune::model
