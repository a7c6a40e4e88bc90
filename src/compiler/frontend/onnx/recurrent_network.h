// Recurrent networks over whole sequences: the products of all inputs with their weights are made
// at once, the steps are a loop over what the state adds.
#pragma once

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/node_context.h"
#include "compiler/frontend/onnx/recurrent_cell.h"

namespace attune::onnx {

// The operands by their meaning, all in the layout with the sequence first.
struct Network {
  std::vector<Cell> cells;  // one per direction
  std::vector<bool> reversed;
  ValueId x = kNoValue;  // [steps, batch, inputs]
  ValueId w = kNoValue, r = kNoValue, b = kNoValue, lengths = kNoValue, h = kNoValue, c = kNoValue,
          peepholes = kNoValue;
  bool weights_transposed = false;  // w, r are [directions, in, gates * hidden] already
  bool batch_first = false;
  std::int64_t steps = 0, batch = 0;
};

// Every output of the sequence, and the last states; those that the node wants.
Converted run_network(NodeContext& node, const Network& net);

}  // namespace attune::onnx
