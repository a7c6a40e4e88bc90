// What logs know about the operator that a task of a model is built around.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"
#include "tuner/records/store.h"
#include "tuner/session/task.h"

namespace attune::whole_model {

// Schedules of the task to try first, the most promising first.
Result<std::vector<schedule::Trace>> anchor_hints(records::Store& store, const session::Task& task,
                                                  const target::Target& target);

}  // namespace attune::whole_model
