// Which values lie in blocked layout. Convolutions read and write blocks of channels; what follows
// them works in the same layout as long as it can, so that elements are moved only where blocked
// and plain parts of the model meet. Every operator can read any layout; `relayout` nodes are put
// in where a kernel wants one in particular: convolutions, views, matrix products and the outputs.
#pragma once

#include "compiler/graph/graph.h"

namespace attune::graph {

// `block` is the number of channels in a block. Bodies of control flow are done too.
Graph assign_layouts(const Graph& graph, std::int64_t block);

}  // namespace attune::graph
