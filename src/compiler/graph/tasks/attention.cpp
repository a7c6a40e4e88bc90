#include "compiler/graph/tasks/attention.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/graph/tasks/anchors.h"
#include "compiler/graph/tasks/attention_program.h"
#include "compiler/ir/text/print.h"
#include "compiler/ops/forms/attention.h"

namespace attune::graph {
namespace {

bool runs_along_rows(const Graph& graph, const Node& softmax) {
  if (softmax.op != "softmax") return false;
  const int rank = graph.value(softmax.outputs[0]).type.rank();
  return call_of(graph, softmax).integer("axis") == rank - 1;
}

// Products of computed matrices of the same rank that have the form of a product.
bool is_product(const Graph& graph, const Node& node) {
  if (node.op != "matmul" || node.inputs.size() != 2) return false;
  const Value& output = graph.value(node.outputs[0]);
  const bool computed = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const Value& value = graph.value(id);
    return value.constant == nullptr && value.type.rank() == output.type.rank();
  });
  if (!computed || !output.type.dtype.is_float() || output.layout.is_blocked()) return false;
  const auto anchor = make_anchor(graph, node);
  return anchor.ok() && anchor->has_value();
}

bool reads(const Node& node, std::string_view op, ValueId id) {
  return node.op == op && !node.inputs.empty() && node.inputs[0] == id;
}

// The cast that rounds the weights of a softmax among nodes of a graph; -1: they stay as they are.
int rounding_of(const Graph& graph, const std::vector<int>& nodes, ValueId weights) {
  const auto cast = std::find_if(nodes.begin(), nodes.end(), [&](int node) {
    return reads(node_at(graph, node), "cast", weights);
  });
  return cast == nodes.end() ? -1 : *cast;
}

// The part of all scores that count: those of the band of a band_mask.
double seen_part(const Graph& graph, ValueId scores) {
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& each) {
    return each.op == "band_mask" && each.outputs[0] == scores;
  });
  if (node == graph.nodes.end()) return 1;
  const ops::OpCall call = call_of(graph, *node);
  const auto& shape = graph.value(scores).type.shape;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  double seen = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = std::max<std::int64_t>(0, row + call.integer("low"));
    const std::int64_t last = std::min(columns - 1, row + call.integer("high"));
    seen += static_cast<double>(std::max<std::int64_t>(0, last - first + 1));
  }
  return seen / static_cast<double>(rows * columns);
}

// Keys of a part of a row, where rows are long: scores of some dozens of queries and so many keys
// are a small part of a second cache.
constexpr std::int64_t kMostKeys = 512;

}  // namespace

bool may_attend(const Graph& graph, const AttentionNodes& nodes) {
  const Node& scores = node_at(graph, nodes.scores);
  const Node& softmax = node_at(graph, nodes.softmax);
  const Node& product = node_at(graph, nodes.product);
  if (!runs_along_rows(graph, softmax) || !is_product(graph, scores) ||
      !is_product(graph, product)) {
    return false;
  }
  const auto& shape = graph.value(scores.outputs[0]).type.shape;
  return shape == graph.value(softmax.outputs[0]).type.shape &&
         shape == graph.value(product.inputs[0]).type.shape &&
         shape[shape.size() - 2] >= ops::kFewestQueries;
}

std::optional<AttentionParts> cut_attention(const Graph& graph, const Group& group) {
  const auto softmax = std::find_if(group.nodes.begin(), group.nodes.end(),
                                    [&](int node) { return node_at(graph, node).op == "softmax"; });
  if (softmax == group.nodes.end()) return std::nullopt;
  const ValueId weights = node_at(graph, *softmax).outputs[0];
  const int rounding = rounding_of(graph, group.nodes, weights);
  const ValueId read = rounding < 0 ? weights : node_at(graph, rounding).outputs[0];
  const bool multiplied = std::any_of(group.nodes.begin(), group.nodes.end(), [&](int node) {
    return reads(node_at(graph, node), "matmul", read);
  });
  if (!multiplied) return std::nullopt;
  auto [scores, product] = divide(graph, group, weights);
  std::erase(scores.nodes, *softmax);
  std::erase(product.nodes, rounding);
  return AttentionParts{std::move(scores), std::move(product), read};
}

Result<Task> attention(const Graph& graph, Task scores, Task product, ValueId weights) {
  const auto softmax = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.inputs.size() == 1 && node.inputs[0] == scores.output && node.op == "softmax";
  });
  CHECK(softmax != graph.nodes.end(), "attention has a softmax of its scores");
  const auto left = std::find(product.inputs.begin(), product.inputs.end(), weights);
  CHECK(left != product.inputs.end(), "attention multiplies the softmax of its scores");
  const auto position = static_cast<std::size_t>(left - product.inputs.begin());

  const std::int64_t keys = scores.op.program.outputs[0]->shape.back();
  AttentionPrograms parts{std::move(scores.op.program), std::move(product.op.program), position,
                          softmax->attributes.count("masked") != 0};
  std::vector<ops::AlgorithmDef> alternatives;
  if (keys >= 2 * kMostKeys) {
    const std::int64_t count = (keys + kMostKeys - 1) / kMostKeys;
    ATTUNE_ASSIGN(ir::Program parted, rows_in_parts(parts, (keys + count - 1) / count));
    alternatives.push_back({"parts", std::move(parted), 0});
  }
  ATTUNE_ASSIGN(ir::Program program, whole_rows(std::move(parts)));

  product.inputs.erase(left);
  scores.inputs.insert(scores.inputs.end(), product.inputs.begin(), product.inputs.end());
  Task task = std::move(product);
  task.name = "attention" + task.name.substr(task.name.find_first_of("+ "));
  task.inputs = std::move(scores.inputs);
  task.op.program = std::move(program);
  task.op.flops = (task.op.flops + scores.op.flops) * seen_part(graph, scores.output);
  task.op.tolerance += scores.op.tolerance;
  for (ops::AlgorithmDef& other : alternatives) other.tolerance = task.op.tolerance;
  task.op.alternatives = std::move(alternatives);
  task.key = hex64(ir::hash(task.op.program));
  return task;
}

}  // namespace attune::graph
