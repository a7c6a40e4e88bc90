// Nodes of constants become constants where the result is small: the interpreter computes it. Large
// ones are left to compiled kernels, but for views, which are free, and transposes, which weights
// often are.
#include <algorithm>

#include "compiler/graph/passes/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// The interpreter does some ten million elements a second.
constexpr std::int64_t kLargestResult = 1 << 16;
constexpr std::int64_t kLargestProduct = 1 << 12;  // of matrices and convolutions

// The most elements that a node may read.
std::int64_t most_read(ops::OpKind kind) {
  switch (kind) {
    case ops::OpKind::Heavy:
      return kLargestProduct;
    case ops::OpKind::Reduction:
    case ops::OpKind::Opaque:
    case ops::OpKind::Host:
      return 1 << 18;
    default:  // few elements are read for each that is written
      return 1 << 24;
  }
}

// Has a loop of its own here, for constants of any size.
bool is_plain_loop(const Node& node) { return node.op == "transpose"; }

bool is_foldable(const Rewriter& rewriter, const Node& node, const PassContext& context) {
  const ops::OpKind kind = operator_of(node).kind;
  if (kind == ops::OpKind::Control) return false;
  if (node.op == "identity" && rewriter.is_output(node.outputs[0])) return false;
  if (kind == ops::OpKind::Host && context.run_host == nullptr) return false;
  std::int64_t read = 0;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    if (rewriter.constant_of(id) == nullptr) return false;
    read += rewriter.type(id).elements();
  }
  if (kind == ops::OpKind::View || is_plain_loop(node)) return true;
  const std::int64_t largest = kind == ops::OpKind::Heavy ? kLargestProduct : kLargestResult;
  return read <= most_read(kind) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
           const TensorType& type = rewriter.type(id);
           return type.is_static() && type.elements() <= largest;
         });
}

Result<std::vector<ConstantPtr>> results_of(const Rewriter& rewriter, const Node& node,
                                            const PassContext& context) {
  if (is_plain_loop(node)) {
    return std::vector{transpose_constant(*rewriter.constant_of(node.inputs[0]),
                                          std::get<Shape>(node.attributes.at("perm")))};
  }
  const bool empty = std::any_of(node.outputs.begin(), node.outputs.end(),
                                 [&](ValueId id) { return rewriter.type(id).elements() == 0; });
  if (!empty || operator_of(node).kind == ops::OpKind::Host) {
    return evaluate(rewriter.call(node), context.run_host);
  }
  std::vector<ConstantPtr> results;
  for (const ValueId id : node.outputs) {
    results.push_back(ops::filled_constant(rewriter.type(id), 0));
  }
  return results;
}

// An output of the graph has a node that computes it.
void set_result(Rewriter& rewriter, ValueId id, const ConstantPtr& result) {
  if (!rewriter.is_output(id)) {
    rewriter.make_constant(id, result);
    return;
  }
  const ValueId known = rewriter.add_constant(result, rewriter.value(id).name);
  rewriter.replace(id, rewriter.add_identity(known));
}

}  // namespace

Result<Graph> fold_constants(const Graph& graph, const PassContext& context) {
  Rewriter rewriter(graph);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (!rewriter.alive(n) || !is_foldable(rewriter, rewriter.node(n), context)) continue;
    ATTUNE_ASSIGN(const std::vector<ConstantPtr> results,
                  results_of(rewriter, rewriter.node(n), context));
    const std::vector<ValueId>& outputs = rewriter.node(n).outputs;
    const bool fits = std::equal(
        outputs.begin(), outputs.end(), results.begin(), results.end(),
        [&](ValueId id, const ConstantPtr& result) { return result->type == rewriter.type(id); });
    if (!fits) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i) set_result(rewriter, outputs[i], results[i]);
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
