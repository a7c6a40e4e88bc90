// Tasks: a fused group as a program that can be scheduled, tuned and compiled. Groups that compute
// the same thing on tensors of the same shapes are the same task, whatever their weights.
#pragma once

#include "compiler/graph/tasks/fusion.h"
#include "compiler/ops/operator.h"

namespace attune::graph {

struct Task {
  std::string name;  // "conv2d+add+relu 64x56x56"
  std::string key;   // stable hash of the direct program, hexadecimal
  ops::Operator op;  // direct program and its alternatives
  // The values behind the program's inputs, in order, and behind its output.
  std::vector<ValueId> inputs;
  ValueId output = kNoValue;
  // It runs many times in a row, in a loop: its weights stay in the caches. Not part of the key.
  bool repeats = false;
};

// The group must be a kernel: no view, host operator or control flow. `zeros` says of which values
// exact zeros must stay (values_with_exact_zeros): they are computed by no algorithm that mixes.
Result<Task> make_task(const Graph& graph, const Group& group, const std::vector<bool>& zeros = {});

}  // namespace attune::graph
