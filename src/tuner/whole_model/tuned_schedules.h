// Which schedules the tasks of a tuned model have: what their sessions found, and what was known of
// them before where nothing better was found. So tuning never ends with less than compiling with
// the same records.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/schedules/known_schedule.h"
#include "compiler/model/schedules/schedules.h"
#include "tuner/records/store.h"
#include "tuner/session/report.h"

namespace attune::whole_model {

// What a task has after its session, which may not have had a round. `tried`: it measured what was
// known, together with what it found.
model::Schedule tuned_schedule(const session::TaskReport& report, const model::Schedule& untuned,
                               const model::Schedule& known, bool tried);

struct TunedTasks {
  const model::ModelTasks& tasks;
  const model::LoadedModel& model;                  // that they are of
  const std::vector<model::Schedule>& known;        // of each distinct task
  const std::vector<session::TaskReport>& reports;  // likewise
  bool all_sessions = true;  // their records count, else those of the reports' alone
  std::size_t most = 1;      // schedules of one task
};

// For each distinct task: what it has, then others that are about as fast by themselves.
Result<std::vector<std::vector<model::Schedule>>> tuned_schedules(const TunedTasks& tuned,
                                                                  records::Store& store);

}  // namespace attune::whole_model
