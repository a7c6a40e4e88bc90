// Chains of elementwise operators over an [m, n] matrix, `add+relu`. A unary operator takes the
// chain so far; a binary one also the next run-time input `operand0`, `operand1`, … [m, n]; `bias`
// and `scale` a constant [n]. All but the last are stages `epilogue.0`, `epilogue.1`, …; the last
// is `output`. What an operator of a chain computes is the meaning of the operator of graphs that
// it stands for: each whose traits say how many operands it has, and a few under names of their
// own.
#pragma once

#include <span>

#include "compiler/ops/forms/family.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {

enum class OperandKind : std::uint8_t { None, Tensor, Column };

struct ElementwiseOp {
  std::string_view name;
  OperandKind operand = OperandKind::None;
  bool integers = false;     // has a meaning for integers
  std::string_view op = {};  // of graphs, where that has another name
  // Attributes, and numbers as last operands, that the name stands for; null: none.
  Attributes (*attributes)() = nullptr;
  std::vector<double> (*numbers)() = nullptr;

  std::string_view meaning() const { return op.empty() ? name : op; }
};
// y is empty for unary operators.
ir::Expr value_of(const ElementwiseOp& op, const ir::Expr& x, const ir::Expr& y);

std::span<const ElementwiseOp> elementwise_ops();
// "add+relu" as operators; `bias_relu` is short for `bias+relu`.
Result<std::vector<ElementwiseOp>> parse_chain(std::string_view text);

struct ElementwiseOptions {
  std::int64_t m = 1, n = 1;
  std::vector<ElementwiseOp> chain;
  ir::DType dtype = ir::kF32;
};

// One operation per element and operator.
double flops(const ElementwiseOptions& options);
Result<ir::Program> build_elementwise(const ElementwiseOptions& options);

}  // namespace attune::ops
