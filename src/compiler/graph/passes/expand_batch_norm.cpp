// A batch normalisation with known statistics is a scale and a shift per channel: a product and a
// sum with constants, computed in double precision. fold_scales then takes them into weights.
#include <cmath>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

bool has_constant_statistics(const Rewriter& rewriter, const Node& node) {
  if (node.op != "batch_norm" || node.inputs.size() != 5 || node.outputs.size() != 1) return false;
  for (std::size_t i = 1; i < 5; ++i) {
    if (rewriter.constant_of(node.inputs[i]) == nullptr) return false;
  }
  const TensorType& type = rewriter.type(node.inputs[0]);
  return type.rank() >= 2 && type.dtype.is_float() && type == rewriter.type(node.outputs[0]);
}

void expand(Rewriter& rewriter, const Node& node) {
  const auto input = [&](std::size_t i) { return reals(*rewriter.constant_of(node.inputs[i])); };
  std::vector<double> scale = input(1), shift = input(2);
  const std::vector<double> mean = input(3), variance = input(4);
  const double epsilon = real_of(node, "epsilon");
  for (std::size_t c = 0; c < scale.size(); ++c) {
    scale[c] /= std::sqrt(variance[c] + epsilon);
    shift[c] -= mean[c] * scale[c];
  }
  const TensorType& data = rewriter.type(node.inputs[0]);
  TensorType type{data.dtype, {static_cast<std::int64_t>(scale.size())}, {}};
  type.shape.resize(data.shape.size() - 1, 1);  // [c, 1, …]
  const ValueId factor = rewriter.add_constant(real_constant(type, scale), node.name + ".scale");
  const ValueId offset = rewriter.add_constant(real_constant(type, shift), node.name + ".shift");
  const ValueId scaled = rewriter.add("mul", {node.inputs[0], factor}, {}, node.name);
  rewriter.replace(node.outputs[0], rewriter.add("add", {scaled, offset}, {}, node.name));
}

}  // namespace

Result<Graph> expand_batch_norm(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (rewriter.alive(n) && has_constant_statistics(rewriter, rewriter.node(n))) {
      expand(rewriter, rewriter.node(n));
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
