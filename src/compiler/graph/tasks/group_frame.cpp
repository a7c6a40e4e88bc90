#include "compiler/graph/tasks/group_frame.h"

namespace attune::graph {
namespace {

bool all_line_up(const Graph& graph, const Group& group, const Frame& frame) {
  for (const int member : group.nodes) {
    for (const ValueId id : node_at(graph, member).inputs) {
      if (id != kNoValue && !shape_in_frame(frame, graph.value(id))) return false;
    }
  }
  return true;
}

}  // namespace

Frame frame_of(const Value& value) {
  return value.layout.is_blocked() ? blocked_frame(value.type.shape, value.layout.block)
                                   : plain_frame(value.type.shape);
}

Frame shared_frame(const Graph& graph, const Group& group) {
  const Value& output = graph.value(node_at(graph, group.last()).outputs[0]);
  if (output.layout.is_blocked()) return frame_of(output);
  for (const int member : group.nodes) {
    const Node& node = node_at(graph, member);
    if (operator_of(node).kind != ops::OpKind::Elementwise ||
        graph.value(node.outputs[0]).type.shape != output.type.shape) {
      return frame_of(output);
    }
  }
  std::vector<std::pair<int, int>> spans;
  const int rank = output.type.rank();
  for (int d = 0; d < rank; ++d) {
    if (!spans.empty()) {
      auto wider = spans;
      wider.back().second = d + 1;
      auto rest = wider;
      for (int e = d + 1; e < rank; ++e) rest.emplace_back(e, e + 1);
      if (all_line_up(graph, group, merged_frame(output.type.shape, rest))) {
        spans = wider;
        continue;
      }
    }
    spans.emplace_back(d, d + 1);
  }
  return merged_frame(output.type.shape, spans);
}

}  // namespace attune::graph
