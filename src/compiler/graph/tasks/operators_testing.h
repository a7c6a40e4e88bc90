// The operators of every group that a graph is fused to, for tests: "matmul+add", one text a group.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/tasks/fusion.h"

namespace attune::graph {

inline std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Group& group : fuse(graph, find_pieces(graph))) {
    std::string name;
    for (const int node : group.nodes) {
      name += (name.empty() ? "" : "+") + graph.nodes[static_cast<std::size_t>(node)].op;
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace attune::graph
