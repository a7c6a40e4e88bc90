// Labels for the nodes of a graph at the least total cost, where each label of a node has a cost
// and each pair of labels of connected nodes has one: how layouts are chosen. Nodes with at most
// two neighbours are eliminated one after the other, which is dynamic programming and exact; only
// where none of them is left is a node decided by what looks best (Scholz and Eckstein 2002).
#pragma once

#include <cstddef>
#include <vector>

namespace attune::graph {

struct Labelling {
  struct Edge {
    std::size_t a = 0, b = 0;
    std::vector<double> costs;  // of label i of a and j of b at i * labels(b) + j
  };
  std::vector<std::vector<double>> costs;  // by node and label
  std::vector<Edge> edges;
};

// One label per node.
std::vector<std::size_t> cheapest_labels(const Labelling& labelling);

// What the labels cost together.
double cost_of(const Labelling& labelling, const std::vector<std::size_t>& labels);

}  // namespace attune::graph
