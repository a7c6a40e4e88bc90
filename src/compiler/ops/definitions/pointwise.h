// What elementwise operators have in common: which element types they take, the type of the result,
// and that f16 and bf16 are computed in f32.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

using Types = Result<std::vector<TensorType>>;
using Values = std::vector<ir::Expr>;

enum class TypeSet : std::uint8_t { Floats, Integers, Numbers, Bool, Any };

bool contains(TypeSet set, ir::DType type);

// All inputs that are there have one type, of the set.
Status check_same_types(const OpCall& call, TypeSet set);
// The inputs that are there, broadcast, with elements of `type`. Run-time extents are kept.
Types broadcast_type(const OpCall& call, ir::DType type);

// The rules of most operators: operands of one type, and a result of that type, or of bool.
template <TypeSet set>
Types infer_alike(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, set));
  return broadcast_type(call, call.inputs[0].dtype);
}
template <TypeSet set>
Types infer_test(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, set));
  return broadcast_type(call, ir::kBool);
}

// The type that operators on `type` compute in: f32 for the 16-bit floats.
ir::DType computed_in(ir::DType type);
// The value in the type it is computed in.
ir::Expr widened(const ir::Expr& value);
// The values of a call, widened; empty ones stay empty.
Values widened(const Values& values);

// A scalar meaning of one value: wide in, wide out.
template <ir::Expr (*function)(const ir::Expr&)>
ir::Expr of_one(const OpCall& /*call*/, const Values& values) {
  return ir::cast(values[0].type(), function(widened(values[0])));
}
template <ir::MathFn function>
ir::Expr of_math(const OpCall& /*call*/, const Values& values) {
  return ir::cast(values[0].type(), ir::math(function, {widened(values[0])}));
}
// One of two values; comparisons give bool.
template <ir::BinOp op>
ir::Expr of_two(const OpCall& /*call*/, const Values& values) {
  const ir::Expr result = ir::binary(op, widened(values[0]), widened(values[1]));
  return ir::is_comparison(op) ? result : ir::cast(values[0].type(), result);
}

}  // namespace attune::ops
