// Known-best first: what records say about the goal of a job, without measuring anything.
#pragma once

#include <optional>

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "tuner/whole_model/report/tune_report.h"

namespace attune::whole_model {

// The report of a model without a contest, loaded with these options, for which the records have a
// schedule that these allow and that is at least as fast as this; nothing when they have none, or
// are not to be asked.
Result<std::optional<TuneReport>> known_answer(model::LoadedModel model,
                                               const model::ModelOptions& options,
                                               const model::ScheduleOptions& records,
                                               double until_latency_ms);

}  // namespace attune::whole_model
