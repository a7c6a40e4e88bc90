#include "compiler/graph/tasks/attention.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/graph/program.h"
#include "compiler/graph/tasks/anchors.h"
#include "compiler/graph/tasks/splice.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

// With fewer rows nothing is gained by keeping scores near: they are few.
constexpr std::int64_t kFewestRows = 8;

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

// The softmax of rows of `scores`, without the division by their sums.
Result<ir::Program> weights_of(const ir::Buffer& scores) {
  const auto last = static_cast<std::int64_t>(scores->shape.size()) - 1;
  ATTUNE_ASSIGN(ir::Program program, program_of({.name = "softmax",
                                                 .attributes = {{"axis", last}},
                                                 .inputs = {{scores->type, scores->shape, {}}},
                                                 .present = {true},
                                                 .constants = {nullptr}}));
  std::erase_if(program.stages, [](const ir::Stage& stage) {
    return stage.name != "max" && stage.name != "exp" && stage.name != "sum";
  });
  CHECK(program.stages.size() == 3, "softmax is made of max, exp and sum");
  return with_prefix(program, "weights.");
}

// Divides what is read of the product by the sum of its row.
void divide_rows(ir::Program& product, const ir::Buffer& sum) {
  const ir::Buffer anchor = product.find_stage("anchor")->outputs[0];
  for (ir::Stage& stage : product.stages) {
    replace_reads(stage, anchor, [&](const std::vector<ir::Expr>& index) {
      const std::vector<ir::Expr> row(index.begin(), index.end() - 1);
      const ir::Expr total = ir::cast(anchor->type, ir::load(sum, row));
      return ir::load(anchor, index) * (ir::cast(anchor->type, ir::float_imm(1)) / total);
    });
  }
}

}  // namespace

bool may_attend(const Graph& graph, const AttentionNodes& nodes) {
  const Node& scores = node_at(graph, nodes.scores);
  const Node& softmax = node_at(graph, nodes.softmax);
  const Node& product = node_at(graph, nodes.product);
  if (!runs_along_rows(graph, softmax) || !is_product(graph, scores) ||
      !is_product(graph, product)) {
    return false;
  }
  const TensorType& type = graph.value(scores.outputs[0]).type;
  return type == graph.value(softmax.outputs[0]).type &&
         type == graph.value(product.inputs[0]).type &&
         type.shape[type.shape.size() - 2] >= kFewestRows;
}

std::optional<AttentionParts> cut_attention(const Graph& graph, const Group& group) {
  const auto softmax = std::find_if(group.nodes.begin(), group.nodes.end(),
                                    [&](int node) { return node_at(graph, node).op == "softmax"; });
  if (softmax == group.nodes.end()) return std::nullopt;
  const ValueId weights = node_at(graph, *softmax).outputs[0];
  const bool multiplied = std::any_of(group.nodes.begin(), group.nodes.end(), [&](int node) {
    const Node& member = node_at(graph, node);
    return member.op == "matmul" && member.inputs[0] == weights;
  });
  if (!multiplied) return std::nullopt;
  auto [scores, product] = divide(graph, group, weights);
  std::erase(scores.nodes, *softmax);
  return AttentionParts{std::move(scores), std::move(product)};
}

Result<Task> attention(const Graph& graph, Task scores, Task product) {
  const auto softmax = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.inputs.size() == 1 && node.inputs[0] == scores.output && node.op == "softmax";
  });
  CHECK(softmax != graph.nodes.end(), "attention has a softmax of its scores");
  const auto left = std::find(product.inputs.begin(), product.inputs.end(), softmax->outputs[0]);
  CHECK(left != product.inputs.end(), "attention multiplies the softmax of its scores");
  const auto position = static_cast<std::size_t>(left - product.inputs.begin());

  ir::Program program = with_prefix(scores.op.program, "scores.");
  const ir::Buffer between = program.outputs[0];
  const ir::Buffer read = product.op.program.inputs[position].buffer;
  CHECK(between->shape == read->shape, "scores are read as they are written");
  ATTUNE_ASSIGN(ir::Program weights, weights_of(between));
  const ir::Buffer power = weights.find_stage("weights.exp")->outputs[0];
  const ir::Buffer sum = weights.find_stage("weights.sum")->outputs[0];
  splice(program, std::move(weights), 0,
         [&](const std::vector<ir::Expr>& index) { return ir::load(between, index); });
  divide_rows(product.op.program, sum);
  splice(program, std::move(product.op.program), position, [&](const std::vector<ir::Expr>& index) {
    return ir::cast(read->type, ir::load(power, index));
  });
  program.name = "attention";
  ATTUNE_RETURN_IF_ERROR(ir::verify(program));

  product.inputs.erase(left);
  scores.inputs.insert(scores.inputs.end(), product.inputs.begin(), product.inputs.end());
  Task task = std::move(product);
  task.name = "attention" + task.name.substr(task.name.find_first_of("+ "));
  task.inputs = std::move(scores.inputs);
  task.op.program = std::move(program);
  task.op.flops += scores.op.flops;
  task.op.tolerance += scores.op.tolerance;
  task.key = hex64(ir::hash(task.op.program));
  return task;
}

}  // namespace attune::graph
