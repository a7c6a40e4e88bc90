// Which schedule a command works with: one from a file, the best that was ever measured, one that
// ships with the program, or the default of the operator's template.
#pragma once

#include <optional>
#include <string>

#include "app/api/model.h"
#include "app/deploy/shipped.h"
#include "base/result.h"
#include "compiler/schedule/trace.h"

namespace attune::api {

struct ScheduleOptions {
  std::string file = {};     // a trace in text; empty: none
  bool use_default = false;  // whatever is known
  std::string records = {};  // the store; empty: the default one
  // A further store to look into; "none": no other, and no schedules that ship with the program.
  std::string history = {};
};

enum class ScheduleSource { File, Record, Shipped, Default };
// "file", "record", "shipped", "default".
std::string_view name_of(ScheduleSource source);

struct KnownSchedule {
  schedule::Trace trace = {};
  Algorithm algorithm = {};  // that of the trace
  ScheduleSource source = ScheduleSource::Default;
  std::optional<double> recorded_us = {};  // of a record
};

// The path of the store that the user means.
Result<std::string> records_path(const std::string& option);

// Another store that the user named, or nothing when he named none; it must exist.
Result<std::optional<std::string>> history_path(const std::string& option);

KnownSchedule default_schedule(const OperatorModel& model);
// The operator as the bundle's look-up sees it; `model` must outlive it.
deploy::ScheduledTask scheduled_task(const OperatorModel& model);
Result<KnownSchedule> known_schedule(const OperatorModel& model, const ScheduleOptions& options);

// "the best of the records", for a person.
std::string describe(const KnownSchedule& known);

}  // namespace attune::api
