// Casts and quantisation.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/import.h"

namespace attune::onnx {
namespace {

// Scales and zero points along one axis, or in blocks of it.
struct Granularity {
  std::vector<std::int64_t> parameters;  // shape that broadcasts to the data
  std::vector<std::int64_t> data;        // shape of the data, with blocks as a dimension
};

Result<Granularity> granularity_of(NodeContext& node, ValueId x, ValueId scale,
                                   std::int64_t axis_attribute, std::int64_t block) {
  const std::vector<std::int64_t> shape = node.shape(x);
  const std::vector<std::int64_t> scales = node.shape(scale);
  if (node.type(scale).elements() == 1 && block == 0) return Granularity{{}, shape};
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(axis_attribute, node.rank(x)));
  const auto at = static_cast<std::size_t>(axis);
  if (block == 0) {
    if (scales != std::vector{shape[at]}) {
      return invalid(fmt::format("the scale is {}, must have {} elements for axis {} of {}",
                                 ops::to_string(node.type(scale)), shape[at], axis,
                                 ops::to_string(node.type(x))));
    }
    std::vector<std::int64_t> wanted(shape.size() - at, 1);
    wanted[0] = shape[at];
    return Granularity{std::move(wanted), shape};
  }
  bool fits = scales.size() == shape.size() && block > 0 && scales[at] * block == shape[at];
  for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = d == at || scales[d] == shape[d];
  if (!fits) {
    return unsupported(fmt::format("scales {} do not divide axis {} of {} into blocks of {}",
                                   ops::to_string(node.type(scale)), axis,
                                   ops::to_string(node.type(x)), block));
  }
  Granularity result{scales, shape};
  result.data[at] = scales[at];
  const auto next = static_cast<std::ptrdiff_t>(at) + 1;
  result.data.insert(result.data.begin() + next, block);
  result.parameters.insert(result.parameters.begin() + next, 1);
  return result;
}

// x, scale and zero point broadcast, put through `op`, and in the shape of x again.
Converted with_scales(NodeContext& node, const std::string& op, ir::DType to) {
  ValueId x = node.input(0), scale = node.input(1), zero = node.input(2);
  const std::vector<std::int64_t> shape = node.shape(x);
  const std::int64_t block = node.integer("block_size", 0);
  ATTUNE_ASSIGN(const Granularity granularity,
                granularity_of(node, x, scale, node.integer("axis", 1), block));
  if (zero != kNoValue && node.type(zero).elements() != node.type(scale).elements()) {
    return invalid(fmt::format("scale {} and zero point {} differ in shape",
                               ops::to_string(node.type(scale)), ops::to_string(node.type(zero))));
  }
  ATTUNE_ASSIGN(x, node.reshape(x, granularity.data));
  ATTUNE_ASSIGN(scale, node.reshape(scale, granularity.parameters));
  std::vector<ValueId> operands{x, scale};
  if (zero != kNoValue) {
    ATTUNE_ASSIGN(zero, node.reshape(zero, granularity.parameters));
    operands.push_back(zero);
  }
  ATTUNE_ASSIGN(const ValueId result,
                node.add(op, std::move(operands), {{"to", ir::to_string(to)}}));
  return one(node.reshape(result, shape));
}

}  // namespace

Converted convert_cast(NodeContext& node) {
  ATTUNE_ASSIGN(const ir::DType to, element_type(static_cast<std::int32_t>(node.integer("to", 0))));
  return one(node.cast(node.input(0), to));
}

Converted convert_cast_like(NodeContext& node) {
  return one(node.cast(node.input(0), node.dtype(node.input(1))));
}

Converted convert_bit_cast(NodeContext& node) {
  ATTUNE_ASSIGN(const ir::DType to, element_type(static_cast<std::int32_t>(node.integer("to", 0))));
  return one(node.add("bit_cast", {node.input(0)}, {{"to", ir::to_string(to)}}));
}

Converted convert_quantize_linear(NodeContext& node) {
  ir::DType to = node.has(2) ? node.dtype(node.input(2)) : ir::kU8;
  if (const std::int64_t named = node.integer("output_dtype", 0); named != 0) {
    ATTUNE_ASSIGN(to, element_type(static_cast<std::int32_t>(named)));
  }
  return with_scales(node, "quantize_linear", to);
}

Converted convert_dequantize_linear(NodeContext& node) {
  ir::DType to = node.dtype(node.input(1));
  if (const std::int64_t named = node.integer("output_dtype", 0); named != 0) {
    ATTUNE_ASSIGN(to, element_type(static_cast<std::int32_t>(named)));
  }
  return with_scales(node, "dequantize_linear", to);
}

// Scale and zero point of u8 from the range of the data, 0 included.
Converted convert_dynamic_quantize_linear(NodeContext& node) {
  const ValueId x = node.input(0);
  std::vector<std::int64_t> axes;
  for (std::int64_t d = 0; d < node.rank(x); ++d) axes.push_back(d);
  const Attributes all{{"axes", axes}, {"keepdims", std::int64_t{0}}};
  const auto real = [&](double value) { return node.scalar(ir::kF32, value); };
  const ValueId most = node.make("max", {node.make("reduce_max", {x}, all), real(0)});
  const ValueId least = node.make("min", {node.make("reduce_min", {x}, all), real(0)});
  const ValueId scale = node.make("div", {node.make("sub", {most, least}), real(255)});
  // All zeros: any scale will do.
  const ValueId is_zero = node.make("equal", {scale, real(0)});
  const ValueId divisor = node.make("where", {is_zero, real(1), scale});
  const ValueId place = node.make("div", {node.make("sub", {real(0), least}), divisor});
  const ValueId rounded = node.make("round", {place});
  const ValueId bounded = node.make("clip", {rounded, real(0), real(255)});
  const ValueId zero = node.make("cast", {bounded}, {{"to", std::string("u8")}});
  const ValueId y = node.make("quantize_linear", {x, divisor, zero}, {{"to", std::string("u8")}});
  return std::vector{y, scale, zero};
}

}  // namespace attune::onnx
