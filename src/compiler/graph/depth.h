// How many heavy operators stand one behind the other in a graph: so often are roundings made of
// what was rounded before.
#pragma once

#include "compiler/graph/graph.h"

namespace attune::graph {

// The most on any way through the graph; what is in a loop counts as often as the loop may run.
int depth_of(const Graph& graph);

}  // namespace attune::graph
