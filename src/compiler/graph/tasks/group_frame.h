// The frame of a group without a heavy operator.
#pragma once

#include "compiler/graph/frame.h"
#include "compiler/graph/tasks/fusion.h"

namespace attune::graph {

// The dimensions of a value as they lie, or in blocks.
Frame frame_of(const Value& value);

// The frame that the nodes of a group share: that of its output, with as few axes as all operands
// allow where all nodes are elementwise.
Frame shared_frame(const Graph& graph, const Group& group);

}  // namespace attune::graph
