#include "compiler/graph/tasks/chain.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/graph/tasks/anchors.h"
#include "compiler/graph/tasks/splice.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {

bool may_chain(const Graph& graph, const Node& first, const Node& second) {
  return (is_pointwise_convolution(graph, first) || is_first_convolution(graph, first)) &&
         is_depthwise_convolution(graph, second) &&
         graph.value(first.outputs[0]).layout == graph.value(second.outputs[0]).layout &&
         graph.value(second.inputs[0]).layout == graph.value(second.outputs[0]).layout;
}

std::optional<std::pair<Group, Group>> cut_chain(const Graph& graph, const Group& group) {
  const auto second = std::find_if(group.nodes.begin(), group.nodes.end(), [&](int node) {
    return is_depthwise_convolution(graph, node_at(graph, node));
  });
  if (second == group.nodes.end()) return std::nullopt;
  auto parts = divide(graph, group, node_at(graph, *second).inputs[0]);
  const auto& before = parts.first.nodes;
  const bool has_product = std::any_of(before.begin(), before.end(), [&](int node) {
    return may_chain(graph, node_at(graph, node), node_at(graph, *second));
  });
  if (!has_product) return std::nullopt;
  return parts;
}

Task chain(Task first, Task second) {
  const auto data = std::find(second.inputs.begin(), second.inputs.end(), first.output);
  CHECK(data != second.inputs.end(), "the second part of a chain reads the result of the first");
  ir::Program program = with_prefix(first.op.program, "before.");
  program.name += "_" + second.op.program.name;
  splice(program, std::move(second.op.program),
         static_cast<std::size_t>(data - second.inputs.begin()),
         [between = program.outputs[0]](const std::vector<ir::Expr>& index) {
           return ir::load(between, index);
         });
  second.inputs.erase(data);

  Task task = std::move(first);
  task.name = task.name.substr(0, task.name.find(' ')) + "+" + second.name;
  task.inputs.insert(task.inputs.end(), second.inputs.begin(), second.inputs.end());
  task.output = second.output;
  task.op.program = std::move(program);
  task.op.flops += second.op.flops;
  task.op.tolerance += second.op.tolerance;
  task.op.alternatives.clear();
  task.key = hex64(ir::hash(task.op.program));
  return task;
}

}  // namespace attune::graph
