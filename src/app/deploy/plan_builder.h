// From the tasks of a model and their kernels to the plan that the runtime executes.
#pragma once

#include "app/deploy/ahead.h"
#include "app/deploy/model_tasks.h"
#include "app/deploy/weights.h"

namespace attune::deploy {

// Kernels of the distinct tasks, in their order.
struct TaskKernel {
  LoweredTask lowered;
  std::int32_t kernel = 0;  // number in the plan
};

// Adds buffers and instructions to the plan, and constants (packed by running the prepare kernels,
// which `ahead` has loaded) to the weights. The plan's kernels are there already.
Status build_plan(const ModelTasks& tasks, const std::vector<TaskKernel>& kernels,
                  AheadRunner& ahead, runtime::Plan& plan, Weights& weights);

}  // namespace attune::deploy
