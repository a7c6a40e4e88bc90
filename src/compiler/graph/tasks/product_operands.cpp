#include "compiler/graph/tasks/product_operands.h"

#include <algorithm>

#include "compiler/graph/tasks/anchors.h"
#include "compiler/ops/precision.h"

namespace attune::graph {
namespace {

// A sum of products of two factors in f32.
bool sums_products(const ir::Stage& stage) {
  if (stage.reduction != ir::Reduction::Sum || stage.values.size() != 1) return false;
  const auto* product = ir::as<ir::Binary>(stage.values[0]);
  return product != nullptr && product->op == ir::BinOp::Mul && stage.values[0].type() == ir::kF32;
}

void round_operands(ir::Program& program) {
  for (ir::Stage& stage : program.stages) {
    if (!sums_products(stage)) continue;
    const auto* product = ir::as<ir::Binary>(stage.values[0]);
    stage.values[0] = rounded_to_tf32(product->lhs) * rounded_to_tf32(product->rhs);
  }
}

}  // namespace

bool rounds_operands(const Graph& graph, const Node& node) {
  return node.attributes.find(kOperandsAttribute) != node.attributes.end() &&
         !is_depthwise_convolution(graph, node);
}

ir::Expr rounded_to_tf32(const ir::Expr& value) {
  constexpr std::int64_t kHalf = 1 << 12, kKept = ~((std::int64_t{1} << 13) - 1);
  const ir::Expr bits = ir::bitcast(ir::kI32, value) + ir::int_imm(kHalf, ir::kI32);
  return ir::bitcast(ir::kF32, ir::binary(ir::BinOp::BitAnd, bits, ir::int_imm(kKept, ir::kI32)));
}

void round_operands(ops::Operator& op) {
  const double least = ops::tolerance_of(ops::Precision::TF32, 1);
  round_operands(op.program);
  op.tolerance = std::max(op.tolerance, least);
  for (ops::AlgorithmDef& other : op.alternatives) {
    round_operands(other.program);
    other.tolerance = std::max(other.tolerance, least);
  }
}

}  // namespace attune::graph
