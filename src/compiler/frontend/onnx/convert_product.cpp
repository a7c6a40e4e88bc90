// Matrix products, of floats and of quantised integers.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/product.h"
#include "compiler/graph/constants.h"

namespace attune::onnx {

Result<ValueId> transposed(NodeContext& node, ValueId matrix) {
  const std::vector<std::int64_t> shape = node.shape(matrix);
  if (shape.size() != 2) {
    return invalid(fmt::format("{} is no matrix", ops::to_string(node.type(matrix))));
  }
  const ConstantPtr constant = node.builder().constant_of(matrix);
  if (constant == nullptr) {
    return node.add("transpose", {matrix}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  }
  // Weights, however large: laid out anew here, so that they stay constants.
  return node.constant(graph::transpose_constant(*constant, {1, 0}));
}

Result<ValueId> product(NodeContext& node, ValueId a, ValueId b) {
  const bool row = node.rank(a) == 1, column = node.rank(b) == 1;
  if (node.rank(a) == 0 || node.rank(b) == 0) return invalid("a product of scalars");
  if (row) {
    ATTUNE_ASSIGN(a, node.reshape(a, {1, node.shape(a)[0]}));
  }
  if (column) {
    ATTUNE_ASSIGN(b, node.reshape(b, {node.shape(b)[0], 1}));
  }
  const ops::TensorType left = node.type(a), right = node.type(b);
  ValueId result = kNoValue;
  if (left.shape.back() == 0 && right.shape[right.shape.size() - 2] == 0) {  // sums of nothing
    const std::vector<std::vector<std::int64_t>> batches{
        {left.shape.begin(), left.shape.end() - 2}, {right.shape.begin(), right.shape.end() - 2}};
    ATTUNE_ASSIGN(std::vector<std::int64_t> shape, ops::broadcast_shape(batches));
    shape.push_back(left.shape[left.shape.size() - 2]);
    shape.push_back(right.shape.back());
    ATTUNE_ASSIGN(result, node.filled(left.dtype, std::move(shape), 0));
  } else {
    ATTUNE_ASSIGN(result, node.add("matmul", {a, b}));
  }
  std::vector<std::int64_t> shape = node.shape(result);
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.pop_back();
  return node.reshape(result, std::move(shape));
}

Result<ValueId> centred(NodeContext& node, ValueId value, ValueId zero, bool rows) {
  ATTUNE_ASSIGN(const ValueId wide, node.cast(value, ir::kI32));
  if (zero == kNoValue) return wide;
  if (node.dtype(zero) != node.dtype(value)) {
    return invalid(fmt::format("the zero point is {}, must be {}", ops::to_string(node.type(zero)),
                               ir::to_string(node.dtype(value))));
  }
  ATTUNE_ASSIGN(ValueId offset, node.cast(zero, ir::kI32));
  if (rows) {
    ATTUNE_ASSIGN(offset, per_row(node, offset));
  }
  return node.add("sub", {wide, offset});
}

Result<ValueId> per_row(NodeContext& node, ValueId parameter) {
  std::vector<std::int64_t> shape = node.shape(parameter);
  if (shape.size() != 1 || shape[0] == 1) return parameter;
  shape.push_back(1);
  return node.reshape(parameter, std::move(shape));
}

Result<ValueId> requantized(NodeContext& node, ValueId sums, ValueId scale, ValueId result_scale,
                            ValueId result_zero) {
  ATTUNE_ASSIGN(const ValueId real, node.cast(sums, ir::kF32));
  ATTUNE_ASSIGN(const ValueId scaled, node.add("mul", {real, scale}));
  ATTUNE_ASSIGN(const ValueId divisor, node.cast(result_scale, ir::kF32));
  return node.add("quantize_linear", {scaled, divisor, result_zero},
                  {{"to", ir::to_string(node.dtype(result_zero))}});
}

Converted convert_matmul(NodeContext& node) {
  return one(product(node, node.input(0), node.input(1)));
}

Converted convert_gemm(NodeContext& node) {
  ValueId a = node.input(0), b = node.input(1);
  if (node.rank(a) != 2 || node.rank(b) != 2) return invalid("its operands must be matrices");
  if (node.flag("transA")) {
    ATTUNE_ASSIGN(a, transposed(node, a));
  }
  if (node.flag("transB")) {
    ATTUNE_ASSIGN(b, transposed(node, b));
  }
  const ir::DType type = node.dtype(a);
  ATTUNE_ASSIGN(ValueId y, product(node, a, b));
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  if (alpha != 1) {
    ATTUNE_ASSIGN(y, node.add("mul", {y, node.scalar(type, alpha)}));
  }
  if (!node.has(2) || beta == 0) return std::vector{y};
  ValueId c = node.input(2);
  if (beta != 1) {
    ATTUNE_ASSIGN(c, node.add("mul", {c, node.scalar(type, beta)}));
  }
  const std::vector<std::int64_t> shape = node.shape(y);
  ATTUNE_ASSIGN(y, node.add("add", {y, c}));
  if (node.shape(y) != shape) {
    return invalid(fmt::format("C is {}, which does not broadcast to the product",
                               ops::to_string(node.type(c))));
  }
  return std::vector{y};
}

Converted convert_matmul_integer(NodeContext& node) {
  ATTUNE_ASSIGN(const ValueId a, centred(node, node.input(0), node.input(2), true));
  ATTUNE_ASSIGN(const ValueId b, centred(node, node.input(1), node.input(3), false));
  return one(product(node, a, b));
}

// a, its scale and zero point; b likewise; scale and zero point of the result.
Converted convert_qlinear_matmul(NodeContext& node) {
  ATTUNE_ASSIGN(const ValueId a, centred(node, node.input(0), node.input(2), true));
  ATTUNE_ASSIGN(const ValueId b, centred(node, node.input(3), node.input(5), false));
  ATTUNE_ASSIGN(const ValueId sums, product(node, a, b));
  ATTUNE_ASSIGN(ValueId a_scale, node.cast(node.input(1), ir::kF32));
  ATTUNE_ASSIGN(a_scale, per_row(node, a_scale));
  ATTUNE_ASSIGN(const ValueId b_scale, node.cast(node.input(4), ir::kF32));
  ATTUNE_ASSIGN(const ValueId scale, node.add("mul", {a_scale, b_scale}));
  return one(requantized(node, sums, scale, node.input(6), node.input(7)));
}

Converted convert_det(NodeContext& node) { return one(node.add("det", {node.input(0)})); }

}  // namespace attune::onnx
