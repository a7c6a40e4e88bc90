// Means over all spatial dimensions of images are global pools, which read blocked images.
#include <algorithm>
#include <numeric>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

bool recognise(Rewriter& rewriter, const Node& node) {
  const bool mean = node.op == "reduce_mean";
  if (!mean && node.op != "reduce_max") return false;
  const ValueId x = node.inputs[0];
  const TensorType& type = rewriter.type(x);
  if (type.rank() < 4 || !type.dtype.is_float() || !type.is_static()) return false;
  Shape axes = integers_of(node, "axes");
  std::sort(axes.begin(), axes.end());
  Shape spatial(type.shape.size() - 2);
  std::iota(spatial.begin(), spatial.end(), 2);
  if (axes != spatial) return false;
  ValueId pooled =
      rewriter.add(mean ? "global_average_pool" : "global_max_pool", {x}, {}, node.name);
  if (rewriter.type(pooled) != rewriter.type(node.outputs[0])) {
    pooled =
        rewriter.add("reshape", {pooled}, {{"shape", rewriter.shape(node.outputs[0])}}, node.name);
  }
  return rewriter.replace(node.outputs[0], pooled);
}

}  // namespace

Result<Graph> recognise_pools(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (rewriter.alive(n)) recognise(rewriter, rewriter.node(n));
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
