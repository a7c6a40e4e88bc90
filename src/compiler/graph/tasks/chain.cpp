#include "compiler/graph/tasks/chain.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/graph/tasks/anchors.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

// Old buffers and new ones.
using Replacements = std::vector<std::pair<ir::Buffer, ir::Buffer>>;

// Gives the stages and inputs of a program other names.
class Renaming {
 public:
  explicit Renaming(std::string prefix) : prefix_(std::move(prefix)) {}

  ir::Program operator()(const ir::Program& program) {
    ir::Program result{program.name, {}, {}, {}};
    for (const ir::Input& input : program.inputs) {
      result.inputs.push_back({renamed(input.buffer), input.constant});
    }
    for (ir::Stage stage : program.stages) {
      stage.name = prefix_ + stage.name;
      for (ir::Expr& value : stage.values) value = with_new_loads(value, buffers_);
      for (ir::Buffer& buffer : stage.outputs) buffer = renamed(buffer);
      result.stages.push_back(std::move(stage));
    }
    result.outputs = {result.stages.back().outputs[0]};
    return result;
  }

  static ir::Expr with_new_loads(ir::Expr value, const Replacements& buffers) {
    for (const auto& [old, fresh] : buffers) {
      value = ir::replace_loads(value, old, [&b = fresh](const std::vector<ir::Expr>& index) {
        return ir::load(b, index);
      });
    }
    return value;
  }

 private:
  ir::Buffer renamed(const ir::Buffer& buffer) {
    const ir::Buffer fresh = ir::make_buffer(prefix_ + buffer->name, buffer->type, buffer->shape);
    buffers_.emplace_back(buffer, fresh);
    return fresh;
  }

  std::string prefix_;
  Replacements buffers_;
};

const Node& node_at(const Graph& graph, int node) {
  return graph.nodes[static_cast<std::size_t>(node)];
}

}  // namespace

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
  // What the data of the second part is computed from.
  std::set<ValueId> wanted{node_at(graph, *second).inputs[0]};
  Group before, behind;
  bool has_product = false;
  for (auto node = group.nodes.rbegin(); node != group.nodes.rend(); ++node) {
    const Node& member = node_at(graph, *node);
    const bool is_before = wanted.count(member.outputs[0]) > 0;
    (is_before ? before : behind).nodes.push_back(*node);
    if (!is_before) continue;
    wanted.insert(member.inputs.begin(), member.inputs.end());
    has_product |= may_chain(graph, member, node_at(graph, *second));
  }
  if (!has_product) return std::nullopt;
  std::reverse(before.nodes.begin(), before.nodes.end());
  std::reverse(behind.nodes.begin(), behind.nodes.end());
  return std::pair(std::move(before), std::move(behind));
}

Task chain(Task first, Task second) {
  const auto data = std::find(second.inputs.begin(), second.inputs.end(), first.output);
  CHECK(data != second.inputs.end(), "the second part of a chain reads the result of the first");
  const auto position = data - second.inputs.begin();
  ir::Program program = Renaming("before.")(first.op.program);
  ir::Program& rest = second.op.program;
  const ir::Buffer between = program.outputs[0];
  const Replacements replaced{{rest.inputs[static_cast<std::size_t>(position)].buffer, between}};
  rest.inputs.erase(rest.inputs.begin() + position);
  second.inputs.erase(data);
  program.name += "_" + rest.name;
  program.inputs.insert(program.inputs.end(), rest.inputs.begin(), rest.inputs.end());
  for (ir::Stage& stage : rest.stages) {
    for (ir::Expr& value : stage.values) value = Renaming::with_new_loads(value, replaced);
    program.stages.push_back(std::move(stage));
  }
  program.outputs = rest.outputs;

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
