// Which values lie in blocked layout. Convolutions read and write blocks of channels; what follows
// them works in the same layout as long as it can, so that elements are moved only where parts of
// the model with different layouts meet. Every operator can read any layout; `relayout` nodes are
// put in where a kernel wants one in particular: convolutions, views, matrix products and the
// outputs. Inputs and outputs keep the layout that they come with; a convolution that computes such
// an output in blocks has that size of blocks, whatever the plan says.
#pragma once

#include <map>

#include "compiler/graph/graph.h"

namespace attune::graph {

// No target has more channels in a block, and this is a multiple of what each has.
inline constexpr std::int64_t kWidestBlock = 16;

// How many channels the convolutions have in a block.
struct LayoutPlan {
  std::int64_t block = 0;
  std::map<ValueId, std::int64_t> own = {};  // of those that differ, by their output
};

// Two convolutions between which `moved` changes its layout when their blocks differ.
struct LayoutLink {
  ValueId from = kNoValue, to = kNoValue;  // outputs of the convolutions
  ValueId moved = kNoValue;
};

struct Layouts {
  Graph graph;  // the values of the original keep their numbers
  // Of the graph itself, not of the bodies of control flow, which have blocks of the plan's size.
  std::vector<ValueId> convolutions;  // their outputs, of those that the plan decides about
  std::vector<LayoutLink> links;
};

Layouts lay_out(const Graph& graph, const LayoutPlan& plan);

// The same with one size of blocks, and the graph alone.
Graph assign_layouts(const Graph& graph, std::int64_t block);

}  // namespace attune::graph
