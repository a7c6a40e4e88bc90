// The scale of attention goes to where it costs nothing: a number that multiplies the product of
// two computed matrices multiplies one of them instead, right behind the product with constant
// weights that it comes from; fold_scales then takes it into these weights.
//   mul(matmul(transpose(reshape(add(matmul(x, w), b))), k), s)
//   -> matmul(transpose(reshape(mul(add(matmul(x, w), b), s))), k)
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

bool has_constant_weights(const Rewriter& rewriter, ValueId id) {
  const Node* node = made_by(rewriter, id, "matmul");
  return node != nullptr && rewriter.constant_of(node->inputs[1]) != nullptr;
}

// Whether a value is the product of constant weights, or its sum with a constant.
bool is_projection(const Rewriter& rewriter, ValueId id) {
  if (has_constant_weights(rewriter, id)) return true;
  const Node* sum = made_by(rewriter, id, "add");
  const auto operands = sum == nullptr ? std::nullopt : constant_operand(rewriter, *sum);
  return operands && rewriter.has_one_use(operands->other) &&
         has_constant_weights(rewriter, operands->other);
}

// The projection that a value is a transpose or reshape of, if nothing else reads it.
std::optional<ValueId> projection_of(const Rewriter& rewriter, ValueId id) {
  while (rewriter.constant_of(id) == nullptr && rewriter.has_one_use(id)) {
    if (is_projection(rewriter, id)) return id;
    const Node* node = rewriter.maker(id);
    if (node == nullptr || (node->op != "transpose" && node->op != "reshape")) return std::nullopt;
    id = node->inputs[0];
  }
  return std::nullopt;
}

bool hoist(Rewriter& rewriter, const Node& node) {
  if (node.op != "mul") return false;
  const auto operands = constant_operand(rewriter, node);
  if (!operands || rewriter.type(operands->constant).elements() != 1 ||
      rewriter.type(node.outputs[0]) != rewriter.type(operands->other)) {
    return false;
  }
  const Node* product = made_only_by(rewriter, operands->other, "matmul");
  if (product == nullptr || product->inputs[0] == product->inputs[1]) return false;
  for (const ValueId operand : product->inputs) {
    const auto projection = projection_of(rewriter, operand);
    if (!projection) continue;
    const ValueId scale = rewriter.add_constant(
        ops::scalar_constant(rewriter.type(operands->constant).dtype,
                             rewriter.constant_of(operands->constant)->real(0)),
        node.name);
    rewriter.replace(*projection, rewriter.add("mul", {*projection, scale}, {}, node.name));
    return rewriter.replace(node.outputs[0], operands->other);
  }
  return false;
}

}  // namespace

Result<Graph> hoist_scales(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) { return hoist(rewriter, rewriter.node(n)); });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
