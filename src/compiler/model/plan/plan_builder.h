// From the tasks of a model and their kernels to the plan that the runtime executes.
#pragma once

#include "compiler/model/ahead.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/plan/weights.h"

namespace attune::model {

// Adds buffers and instructions to the plan, and constants (packed by running the prepare kernels,
// which `ahead` has loaded) to the weights. The plan's kernels are there already, in
// the order of the distinct tasks.
Status build_plan(const ModelTasks& tasks, const std::vector<SharedKernel>& kernels,
                  AheadRunner& ahead, runtime::Plan& plan, Weights& weights);

}  // namespace attune::model
