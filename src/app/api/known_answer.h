// Known-best first: what records say about the goal of a job, without measuring anything.
#pragma once

#include <optional>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "app/api/tune_report.h"
#include "base/result.h"

namespace attune::api {

// The report of an operator for which the records have a schedule that the options allow and that
// is at least as fast as this; nothing when they have none, or are not to be asked.
Result<std::optional<TuneReport>> known_answer(const ModelOptions& options,
                                               const ScheduleOptions& records,
                                               double until_latency_ms);

}  // namespace attune::api
