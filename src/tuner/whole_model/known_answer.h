// Known-best first: what records say about the goal of a job, without measuring anything.
#pragma once

#include <optional>

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "tuner/whole_model/report/tune_report.h"

namespace attune::whole_model {

// The report of an operator for which the records have a schedule that the options allow and that
// is at least as fast as this; nothing when they have none, or are not to be asked.
Result<std::optional<TuneReport>> known_answer(const model::ModelOptions& options,
                                               const model::ScheduleOptions& records,
                                               double until_latency_ms);

}  // namespace attune::whole_model
