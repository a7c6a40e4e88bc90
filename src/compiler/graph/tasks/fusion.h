// Fusion: which nodes become one kernel. The rules are the well-known ones: elementwise operators
// join the kernel that computes their operand; elementwise and injective operators join the
// elementwise, injective or reducing operator that alone reads them; a heavy operator is the anchor
// of its kernel and takes elementwise operators behind it, or two of them make a chain (chain.h) or
// attention (attention.h), or one is the beginning of a cell (cell.h); views cost nothing, and host
// operators and control flow stand for themselves.
#pragma once

#include <utility>

#include "compiler/graph/pieces.h"

namespace attune::graph {

struct Group {
  std::vector<int> nodes;  // of the graph, producers first
  int last() const { return nodes.back(); }
};

inline const Node& node_at(const Graph& graph, int node) {
  return graph.nodes[static_cast<std::size_t>(node)];
}

struct FusionRules {
  // Chains pay where a core keeps in its cache what lies between the two.
  bool chains = true;
};

// All nodes, each in one group; groups in an order in which they can run. Nodes that need no kernel
// stand alone.
std::vector<Group> fuse(const Graph& graph, const Pieces& pieces, const FusionRules& rules = {});

// The members that `value` is computed from, and the others.
std::pair<Group, Group> divide(const Graph& graph, const Group& group, ValueId value);

}  // namespace attune::graph
