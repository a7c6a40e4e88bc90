// What the converters of products share.
#pragma once

#include "compiler/frontend/onnx/node_context.h"

namespace attune::onnx {

// The matrix with rows and columns exchanged; a constant stays one, whatever its size.
Result<ValueId> transposed(NodeContext& node, ValueId matrix);
// By the rules of MatMul: vectors are rows or columns, leading dimensions broadcast.
Result<ValueId> product(NodeContext& node, ValueId a, ValueId b);

// Quantised values without their zero point (which may be absent), in i32; with `rows`, zero points
// of one dimension belong to rows.
Result<ValueId> centred(NodeContext& node, ValueId value, ValueId zero, bool rows);
// A parameter of one dimension as a column.
Result<ValueId> per_row(NodeContext& node, ValueId parameter);
// Sums in i32 times `scale`, quantised with the scale and zero point of the result.
Result<ValueId> requantized(NodeContext& node, ValueId sums, ValueId scale, ValueId result_scale,
                            ValueId result_zero);

}  // namespace attune::onnx
