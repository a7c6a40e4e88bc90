// What a run of a model reads: from files and pictures, random where there is none.
#pragma once

#include <vector>

#include "app/verbs/run.h"
#include "compiler/model/load/runnable_model.h"
#include "runtime/memory/tensor.h"

namespace attune::verbs {

struct GivenInputs {
  std::vector<runtime::Tensor> tensors = {};                // as the plan's inputs
  std::vector<tensor_files::TensorSummary> summaries = {};  // as people know them
};

// Of an operator: a constant that stands for weights, and is no number of the operator itself.
bool is_weight(const graph::Value& value);

// The weights of an operator are given like its inputs, but while it is compiled: takes the files
// that name them out of `inputs` and into the graph. Returns what the weights are then; nothing for
// other models.
Result<std::vector<tensor_files::TensorSummary>> bind_weights(model::LoadedModel& model,
                                                              std::vector<NamedFile>& inputs);

// Names, types and shapes are checked; the errors name the file and the input.
Result<GivenInputs> gather_inputs(const model::RunnableModel& model, const RunOptions& options);

}  // namespace attune::verbs
