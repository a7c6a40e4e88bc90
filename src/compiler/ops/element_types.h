// Which types operators compute in. Sums of f16 and bf16 are kept in f32 and rounded once at the
// end; sums of i8 and u8 are kept, and handed out, in i32.
#pragma once

#include <array>

#include "compiler/ir/nodes/expr.h"
#include "compiler/ops/precision.h"

namespace attune::ops {

// The types of matrix products, convolutions and other sums of products.
inline constexpr std::array kProductTypes{ir::kF32, ir::kF16, ir::kBF16,
                                          ir::kI8,  ir::kU8,  ir::kI32};
// The types of functions with real values.
inline constexpr std::array kFloatTypes{ir::kF32, ir::kF16, ir::kBF16};
// The types of sums, comparisons and plain arithmetic.
inline constexpr std::array kNumberTypes{ir::kF32, ir::kF16, ir::kBF16, ir::kI32, ir::kI64};
// The types of operators that only move elements.
inline constexpr std::array kAllTypes{ir::kF32, ir::kF16, ir::kBF16, ir::kI8,
                                      ir::kU8,  ir::kI32, ir::kI64,  ir::kBool};

// The type in which elements of `type` are added up.
inline ir::DType accumulator_of(ir::DType type) {
  if (type.is_float()) return ir::kF32;
  return type.bits <= 16 ? ir::kI32 : type;
}
// The type of the result of a sum of products.
inline ir::DType result_of(ir::DType type) { return type.is_float() ? type : accumulator_of(type); }
// a * b in the type of the sum they go into.
inline ir::Expr product(const ir::Expr& a, const ir::Expr& b) {
  const ir::DType type = accumulator_of(a.type());
  return ir::cast(type, a) * ir::cast(type, b);
}

}  // namespace attune::ops
