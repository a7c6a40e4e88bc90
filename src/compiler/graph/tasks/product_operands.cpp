#include "compiler/graph/tasks/product_operands.h"

#include <algorithm>

#include "compiler/graph/tasks/anchors.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ops/precision.h"

namespace attune::graph {
namespace {

// A sum of products of two factors in f32.
bool sums_products(const ir::Stage& stage) {
  if (stage.reduction != ir::Reduction::Sum || stage.values.size() != 1) return false;
  const auto* product = ir::as<ir::Binary>(stage.values[0]);
  return product != nullptr && product->op == ir::BinOp::Mul && stage.values[0].type() == ir::kF32;
}

ir::Stage* producer_of(ir::Program& program, const ir::Buffer& buffer) {
  for (ir::Stage& stage : program.stages) {
    if (stage.outputs[0] == buffer) return &stage;
  }
  return nullptr;
}

bool reads(const ir::Stage& stage, const ir::Buffer& buffer) {
  bool found = false;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      found |= load != nullptr && load->buffer == buffer;
    });
  }
  return found;
}

// Whether all that a stage reads is constant.
bool is_constant(ir::Program& program, const ir::Stage& stage) {
  bool constant = true;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (load == nullptr) return;
      const ir::Stage* before = producer_of(program, load->buffer);
      const auto input = std::find_if(program.inputs.begin(), program.inputs.end(),
                                      [&](const auto& i) { return i.buffer == load->buffer; });
      constant &= before != nullptr ? is_constant(program, *before)
                                    : input != program.inputs.end() && input->constant;
    });
  }
  return constant;
}

// A factor, rounded where it is multiplied; weights that are computed ahead are rounded there.
ir::Expr rounded(ir::Program& program, const ir::Expr& factor) {
  const auto* load = ir::as<ir::Load>(factor);
  ir::Stage* stage = load != nullptr ? producer_of(program, load->buffer) : nullptr;
  const bool ahead = stage != nullptr && stage->reduction == ir::Reduction::None &&
                     stage->values.size() == 1 && is_constant(program, *stage) &&
                     std::count_if(program.stages.begin(), program.stages.end(),
                                   [&](const ir::Stage& s) { return reads(s, load->buffer); }) == 1;
  if (!ahead) return rounded_to_tf32(factor);
  stage->values[0] = rounded_to_tf32(stage->values[0]);
  return factor;
}

void round_operands(ir::Program& program) {
  for (ir::Stage& stage : program.stages) {
    if (!sums_products(stage)) continue;
    const auto* product = ir::as<ir::Binary>(stage.values[0]);
    const ir::Expr lhs = product->lhs, rhs = product->rhs;
    stage.values[0] = rounded(program, lhs) * rounded(program, rhs);
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
