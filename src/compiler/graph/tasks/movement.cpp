#include "compiler/graph/tasks/movement.h"

#include "base/check.h"

namespace attune::graph {

bool is_movement(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return false;
  const Value& input = graph.value(node.inputs[0]);
  const Value& output = graph.value(node.outputs[0]);
  if (!input.type.is_static() || !output.type.is_static() || output.type.elements() == 0) {
    return false;
  }
  if (input.layout.is_blocked() || output.layout.is_blocked() || input.constant != nullptr ||
      input.type.dtype != output.type.dtype || input.type.rank() == 0 || output.type.rank() == 0) {
    return false;
  }
  return operator_of(node).traits.keeps_rows != nullptr;
}

bool keeps_neighbours(const Graph& graph, const Node& node) {
  return operator_of(node).traits.keeps_rows(call_of(graph, node));
}

ir::Expr moved_element(const Graph& graph, const std::set<int>& nodes, ValueId id,
                       const std::vector<ir::Expr>& index, const ReadValue& outside) {
  for (const int number : nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(number)];
    if (node.outputs[0] != id) continue;
    const ops::Read read = [&](const std::vector<ir::Expr>& at) {
      return moved_element(graph, nodes, node.inputs[0], at, outside);
    };
    return operator_of(node).element(call_of(graph, node), {read}, index);
  }
  return outside(id, index);
}

std::vector<ir::Expr> unmerged_index(const std::vector<std::int64_t>& shape,
                                     const std::vector<ir::Expr>& merged) {
  CHECK(!merged.empty() && merged.size() <= shape.size(), "an index has too many dimensions");
  const std::size_t leading = shape.size() - merged.size() + 1;
  std::vector<ir::Expr> index(leading);
  ir::Expr rest = merged[0];
  for (std::size_t d = leading; d-- > 0;) {
    index[d] = d == 0 ? rest : rest % ir::Expr(shape[d]);
    rest = rest / ir::Expr(shape[d]);
  }
  index.insert(index.end(), merged.begin() + 1, merged.end());
  return index;
}

}  // namespace attune::graph
