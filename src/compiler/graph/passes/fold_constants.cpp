// Nodes of constants become constants where that is quickly computed (folding.h). What is not is
// left to compiled kernels.
#include <algorithm>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

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
  const Folding folding{.run_host = context.run_host};
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (!rewriter.alive(n)) continue;
    const Node& node = rewriter.node(n);
    const std::vector<ValueId> outputs = node.outputs;
    if (node.op == "identity" && rewriter.is_output(outputs[0])) continue;
    std::vector<TensorType> types;
    for (const ValueId id : outputs) types.push_back(rewriter.type(id));
    // Whose extents the run decides is not known now.
    const bool known = std::all_of(types.begin(), types.end(),
                                   [](const TensorType& type) { return type.is_static(); });
    if (!known) continue;
    ATTUNE_ASSIGN(const auto results, fold(rewriter.call(node), types, folding));
    if (!results) continue;
    const bool fits = std::equal(
        types.begin(), types.end(), results->begin(), results->end(),
        [](const TensorType& type, const ConstantPtr& result) { return result->type == type; });
    if (!fits) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      set_result(rewriter, outputs[i], (*results)[i]);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
