#include "compiler/graph/depth.h"

#include <algorithm>

namespace attune::graph {
namespace {

// Longer ways differ by nothing that a tolerance could say.
constexpr std::int64_t kDeepest = 1 << 20;

std::int64_t own_depth(const Graph& graph, const Node& node) {
  if (operator_of(node).kind == ops::OpKind::Heavy) return 1;
  std::int64_t depth = 0;
  for (const auto& body : node.bodies) depth = std::max<std::int64_t>(depth, depth_of(*body));
  if (node.op != "loop") return depth;
  const ops::OpCall call = call_of(graph, node);
  std::int64_t trips = call.integer("max_trips");
  if (call.integer("has_trip_count") != 0 && call.constants[0] != nullptr) {
    trips = call.constants[0]->integer(0);
  }
  return depth * std::clamp<std::int64_t>(trips, 1, kDeepest);
}

}  // namespace

int depth_of(const Graph& graph) {
  std::vector<std::int64_t> depths(graph.values.size(), 0);
  std::int64_t deepest = 0;
  for (const Node& node : graph.nodes) {
    std::int64_t before = 0;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) before = std::max(before, depths[static_cast<std::size_t>(id)]);
    }
    const std::int64_t depth = std::min(before + own_depth(graph, node), kDeepest);
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) depths[static_cast<std::size_t>(id)] = depth;
    }
    deepest = std::max(deepest, depth);
  }
  return static_cast<int>(deepest);
}

}  // namespace attune::graph
