// Changes of the element type: casts, and quantisation with scales and zero points.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;

// The attribute `to`: the name of an element type.
ir::DType target(const OpCall& call) {
  const auto type = ir::parse_dtype(call.word("to"));
  CHECK(type.has_value(), "front ends name types that exist");
  return *type;
}

Types infer_cast(const OpCall& call) {
  TensorType type = call.inputs[0];
  type.dtype = target(call);
  return std::vector{type};
}

Expr cast_value(const OpCall& call, const Values& values) {
  const ir::DType from = values[0].type(), to = target(call);
  // Of integers too, bool is whether they are not 0.
  if (to.is_bool() && from.is_int()) {
    return ir::binary(ir::BinOp::Ne, values[0], ir::zero_of(from));
  }
  // Out of range of a small type: what conversions through i32 give, as in C on most machines.
  if (from.is_float() && to.is_int() && to.bits < 32) {
    return ir::cast(to, ir::cast(ir::kI32, widened(values[0])));
  }
  return ir::cast(to, values[0]);
}

Types infer_bitcast(const OpCall& call) {
  TensorType type = call.inputs[0];
  type.dtype = target(call);
  if (type.dtype.element_bytes() != call.inputs[0].dtype.element_bytes()) {
    return unsupported(fmt::format("bit cast of {} to {}, which differ in size",
                                   to_string(call.inputs[0]), ir::to_string(type.dtype)));
  }
  return std::vector{type};
}

Expr bitcast_value(const OpCall& call, const Values& values) {
  const ir::DType from = values[0].type(), to = target(call);
  if (from == to) return values[0];
  // A bool is a byte of 0 or 1.
  if (from.is_bool()) return ir::bitcast(to, ir::cast(ir::kU8, values[0]));
  if (to.is_bool()) return ir::cast(to, ir::bitcast(ir::kU8, values[0]));
  return ir::bitcast(to, values[0]);
}

Status check_scales(const OpCall& call, std::size_t scale) {
  if (!call.inputs[scale].dtype.is_float()) {
    return invalid(fmt::format("the scale of {} is {}, must be a float", call.name,
                               to_string(call.inputs[scale])));
  }
  return {};
}

Types infer_quantize(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_scales(call, 1));
  const ir::DType to = target(call);
  if (!to.is_int() || to.bits > 16) {
    return invalid(fmt::format("quantize to {}, needs 8 or 16 bits", ir::to_string(to)));
  }
  if (call.has(2) && call.inputs[2].dtype != to) {
    return invalid(fmt::format("the zero point is {}, must be {}", to_string(call.inputs[2]),
                               ir::to_string(to)));
  }
  return broadcast_type(call, to);
}

// round(x / scale) + zero, saturated.
Expr quantize_value(const OpCall& call, const Values& values) {
  const ir::DType to = target(call);
  Expr x = ir::cast(ir::kF32, values[0]) / ir::cast(ir::kF32, values[1]);
  x = ir::math(MathFn::Round, {x});
  if (call.has(2)) x = x + ir::cast(ir::kF32, values[2]);
  return ir::cast(to, x);  // saturates
}

Types infer_dequantize(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_scales(call, 1));
  if (!call.inputs[0].dtype.is_int() || call.inputs[0].dtype.bits > 32) {
    return invalid(fmt::format("dequantize of {}, needs integers of up to 32 bits",
                               to_string(call.inputs[0])));
  }
  if (call.has(2) && call.inputs[2].dtype != call.inputs[0].dtype) {
    return invalid(fmt::format("the zero point is {}, must be {}", to_string(call.inputs[2]),
                               ir::to_string(call.inputs[0].dtype)));
  }
  return broadcast_type(call, target(call));
}

// (x - zero) * scale.
Expr dequantize_value(const OpCall& call, const Values& values) {
  Expr x = ir::cast(ir::kI32, values[0]);
  if (call.has(2)) x = x - ir::cast(ir::kI32, values[2]);
  return ir::cast(target(call), ir::cast(ir::kF32, x) * ir::cast(ir::kF32, values[1]));
}

}  // namespace

std::vector<OpDef> conversion_operators() {
  return {
      elementwise("cast", infer_cast, cast_value, {.zeros = Zeros::Cast}),  // to
      elementwise("bit_cast", infer_bitcast, bitcast_value),                // to
      // Operands: x, scale, zero point (may be left out), which broadcast.
      elementwise("quantize_linear", infer_quantize, quantize_value),        // to
      elementwise("dequantize_linear", infer_dequantize, dequantize_value),  // to
  };
}

}  // namespace attune::ops
