// The inputs of a run of a whole model: from files and pictures, random where there is none.
#pragma once

#include <vector>

#include "app/api/run.h"
#include "runtime/plan.h"
#include "runtime/tensor.h"

namespace attune::api {

struct GivenInputs {
  std::vector<runtime::Tensor> tensors = {};  // as the plan's inputs
  std::vector<TensorSummary> summaries = {};
};

// Names, types and shapes are checked; the errors name the file and the input.
Result<GivenInputs> gather_inputs(const runtime::Plan& plan, const RunOptions& options);

}  // namespace attune::api
