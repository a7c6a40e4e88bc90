// Indices that operators compute: from data, which must never lead outside of a tensor, and with
// the rules of ONNX for negative ones.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

using Shape = std::vector<std::int64_t>;

// `index` within 0 … extent - 1, whatever it is.
ir::Expr clamped(ir::Expr index, std::int64_t extent);
// An index read from data: negative ones count from the end, others are clamped.
ir::Expr data_index(const ir::Expr& value, std::int64_t extent);
// Narrows `condition` (empty at first) by `more`.
void require(ir::Expr& condition, const ir::Expr& more);
// `value` where the condition holds (everywhere if it is empty), else `otherwise`.
ir::Expr select_if(const ir::Expr& condition, const ir::Expr& value, const ir::Expr& otherwise);
// A constant of any element type.
ir::Expr imm(ir::DType type, double value);
// The type that sums of this type are computed in: f32 for the 16-bit floats, i32 for small
// integers, the type itself otherwise.
ir::DType sum_type(ir::DType type);

// Whether all of the numbers are this one.
bool all_are(const Shape& numbers, std::int64_t number);
// The product of extents [begin, end).
std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end);
// The types of operands that only move elements.
Error does_not_fit(const OpCall& call, const std::string& what);
// All inputs that are there have sizes known at compile time.
Status require_static(const OpCall& call);

}  // namespace attune::ops
