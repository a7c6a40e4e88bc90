// Running a whole model in a cage: an artifact is code, and may come from anywhere.
#pragma once

#include "base/isolated.h"
#include "compiler/model/load/runnable_model.h"

namespace attune::model {

// What a child process that runs the model may take.
IsolationLimits limits_for(const RunnableModel& model, double seconds = IsolationLimits().seconds);
// The same of one that answers with all outputs of a run, at most 8 GiB.
IsolationLimits limits_with_outputs(const RunnableModel& model, double seconds);

// To be called in the process that runs it (base/isolated.h), before its first run, when the
// session with its threads is made and nothing is left to be opened: what the model's target needs
// is all that this process may do from then on.
Status enter_cage(const RunnableModel& model);

}  // namespace attune::model
