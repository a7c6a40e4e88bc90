// Constants, and what is constant because shapes are bound.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

ConstantPtr reals_constant(const std::vector<double>& values) {
  ir::Array array(ir::kF32, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    array.set_real(static_cast<std::int64_t>(i), values[i]);
  }
  return ops::make_constant(std::move(array));
}

ConstantPtr integer_scalar(std::int64_t value) {
  ir::Array array(ir::kI64, {});
  array.set_int(0, value);
  return ops::make_constant(std::move(array));
}

Status check_static(const TensorType& type) {
  if (type.is_static()) return {};
  return unsupported(fmt::format("the size of {} depends on data", ops::to_string(type)));
}

}  // namespace

Converted convert_constant(NodeContext& node) {
  ConstantPtr value;
  if (node.has_attribute("value")) {
    ATTUNE_ASSIGN(value, node.tensor("value"));
  } else if (node.has_attribute("sparse_value")) {
    ATTUNE_ASSIGN(value, node.sparse_tensor("sparse_value"));
  } else if (node.has_attribute("value_float")) {
    value = ops::scalar_constant(ir::kF32, node.real("value_float", 0));
  } else if (node.has_attribute("value_floats")) {
    value = reals_constant(node.reals("value_floats").value_or(std::vector<double>()));
  } else if (node.has_attribute("value_int")) {
    value = integer_scalar(node.integer("value_int", 0));
  } else if (node.has_attribute("value_ints")) {
    value = ops::make_constant(node.integers("value_ints").value_or(std::vector<std::int64_t>()));
  } else if (node.has_attribute("value_string") || node.has_attribute("value_strings")) {
    return unsupported("strings are not supported");
  } else {
    return invalid("it has no value");
  }
  return std::vector{node.constant(std::move(value))};
}

Converted convert_constant_of_shape(NodeContext& node) {
  ConstantPtr value = ops::scalar_constant(ir::kF32, 0);
  if (node.has_attribute("value")) {
    ATTUNE_ASSIGN(value, node.tensor("value"));
  }
  if (value->type.elements() != 1) {
    return invalid(fmt::format("value is {}, must have one element", ops::to_string(value->type)));
  }
  if (node.is_open(0)) return convert_bounded_constant(node, value);
  ATTUNE_ASSIGN(const std::vector<std::int64_t> shape, node.integers_input(0, "input"));
  std::int64_t bytes = value->type.dtype.element_bytes();
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > (1 << 30)) {
      return invalid(fmt::format("shape [{}] is negative or too large", fmt::join(shape, ",")));
    }
  }
  constexpr std::int64_t kSmall = 1 << 20;
  if (bytes > kSmall) {
    ATTUNE_ASSIGN(const ValueId scalar, node.reshape(node.constant(value), {}));
    return one(node.add("expand", {scalar}, {{"shape", shape}}));
  }
  ATTUNE_RETURN_IF_ERROR(node.count_made(value->type.dtype, shape));
  ir::Array filled(value->type.dtype, shape);
  for (std::size_t at = 0; at < filled.data.size(); at += value->bytes.size()) {
    std::copy(value->bytes.begin(), value->bytes.end(),
              filled.data.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return std::vector{node.constant(ops::make_constant(std::move(filled)))};
}

Converted convert_identity(NodeContext& node) { return std::vector{node.input(0)}; }

Converted convert_shape(NodeContext& node) {
  const TensorType& type = node.type(node.input(0));
  ATTUNE_RETURN_IF_ERROR(check_static(type));
  const std::int64_t rank = type.rank();
  const auto bound = [&](std::int64_t value) {
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const std::int64_t start = bound(node.integer("start", 0));
  const std::int64_t end = std::max(start, bound(node.integer("end", rank)));
  const std::vector<std::int64_t> shape(type.shape.begin() + start, type.shape.begin() + end);
  return std::vector{node.integers_constant(shape)};
}

Converted convert_size(NodeContext& node) {
  const TensorType& type = node.type(node.input(0));
  ATTUNE_RETURN_IF_ERROR(check_static(type));
  return std::vector{node.constant(integer_scalar(type.elements()))};
}

}  // namespace attune::onnx
