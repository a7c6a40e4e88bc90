// Arithmetic on two operands, with broadcasting.
#include <array>

#include "compiler/ops/op_list.h"

namespace attune::ops {
namespace {

Result<std::vector<TensorType>> infer_same(const OpCall& call) {
  const std::array shapes{call.inputs[0].shape, call.inputs[1].shape};
  ATTUNE_ASSIGN(std::vector<std::int64_t> shape, broadcast_shape(shapes));
  return std::vector<TensorType>{{call.inputs[0].dtype, std::move(shape), {}}};
}

template <ir::BinOp op>
ir::Expr combine(const OpCall& /*call*/, const std::vector<ir::Expr>& values) {
  return ir::binary(op, values[0], values[1]);
}

}  // namespace

std::vector<OpDef> arithmetic_operators() {
  return {
      {"add", OpKind::Elementwise, infer_same, combine<ir::BinOp::Add>},
      {"sub", OpKind::Elementwise, infer_same, combine<ir::BinOp::Sub>},
      {"mul", OpKind::Elementwise, infer_same, combine<ir::BinOp::Mul>},
  };
}

}  // namespace attune::ops
