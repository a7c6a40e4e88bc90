// Convolutions.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/windows.h"

namespace attune::onnx {
namespace {

Extents kernel_of(NodeContext& node, ValueId weight) {
  const Extents& shape = node.shape(weight);
  return shape.size() < 3 ? Extents{} : Extents(shape.begin() + 2, shape.end());
}

Result<Attributes> conv_attributes(NodeContext& node, ValueId data, ValueId weight) {
  ATTUNE_ASSIGN(const WindowAttributes window,
                window_attributes(node, data, kernel_of(node, weight)));
  Attributes attributes = to_attributes(window);
  attributes["group"] = node.integer("group", 1);
  return attributes;
}

// value - zero point, in i32; zero points of weights have one element per output channel.
Result<ValueId> without_zero_point(NodeContext& node, ValueId value, ValueId zero, bool is_weight) {
  ATTUNE_ASSIGN(const ValueId wide, node.cast(value, ir::kI32));
  if (zero == kNoValue) return wide;
  ATTUNE_ASSIGN(ValueId wide_zero, node.cast(zero, ir::kI32));
  if (is_weight && node.rank(zero) == 1 && node.shape(zero)[0] > 1) {
    Extents shape(node.shape(value).size(), 1);
    shape[0] = node.shape(zero)[0];
    ATTUNE_ASSIGN(wide_zero, node.reshape(wide_zero, shape));
  } else {
    ATTUNE_ASSIGN(wide_zero, node.reshape(wide_zero, {}));
  }
  return node.add("sub", {wide, wide_zero});
}

// A number, or one per channel, to go with [n, c, spatial…].
Result<ValueId> per_channel(NodeContext& node, ValueId value, std::size_t rank) {
  const std::int64_t count = node.type(value).elements();
  if (count == 1) return node.reshape(value, {});
  Extents shape(rank, 1);
  shape[1] = count;
  return node.reshape(value, shape);
}

}  // namespace

Converted convert_conv(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, conv_attributes(node, node.input(0), node.input(1)));
  return one(
      node.add("conv", {node.input(0), node.input(1), node.input(2)}, std::move(attributes)));
}

Converted convert_conv_integer(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, conv_attributes(node, node.input(0), node.input(1)));
  ATTUNE_ASSIGN(const ValueId data, without_zero_point(node, node.input(0), node.input(2), false));
  ATTUNE_ASSIGN(const ValueId weight, without_zero_point(node, node.input(1), node.input(3), true));
  return one(node.add("conv", {data, weight, kNoValue}, std::move(attributes)));
}

Converted convert_qlinear_conv(NodeContext& node) {
  const ValueId x = node.input(0), w = node.input(3);
  ATTUNE_ASSIGN(Attributes attributes, conv_attributes(node, x, w));
  ATTUNE_ASSIGN(const ValueId data, without_zero_point(node, x, node.input(2), false));
  ATTUNE_ASSIGN(const ValueId weight, without_zero_point(node, w, node.input(5), true));
  ATTUNE_ASSIGN(const ValueId sum,
                node.add("conv", {data, weight, node.input(8)}, std::move(attributes)));
  const std::size_t rank = node.shape(sum).size();
  ATTUNE_ASSIGN(const ValueId x_scale, per_channel(node, node.input(1), rank));
  ATTUNE_ASSIGN(const ValueId w_scale, per_channel(node, node.input(4), rank));
  ATTUNE_ASSIGN(const ValueId y_scale, per_channel(node, node.input(6), rank));
  ATTUNE_ASSIGN(const ValueId real, node.cast(sum, node.dtype(x_scale)));
  const ValueId product = node.make("mul", {x_scale, w_scale});
  const ValueId scale = node.make("div", {product, y_scale});
  const ValueId scaled = node.make("mul", {real, scale});
  if (node.failed()) return std::vector<ValueId>{};
  ATTUNE_ASSIGN(const ValueId zero, node.reshape(node.input(7), {}));
  const ValueId unit = node.scalar(node.dtype(scaled), 1);
  return one(
      node.add("quantize_linear", {scaled, unit, zero}, {{"to", ir::to_string(node.dtype(zero))}}));
}

Converted convert_conv_transpose(NodeContext& node) {
  const ValueId data = node.input(0), weight = node.input(1);
  ATTUNE_ASSIGN(WindowAttributes window, window_attributes(node, data, kernel_of(node, weight)));
  const std::size_t rank = window.kernel.size();
  ATTUNE_ASSIGN(Extents padding, list_attribute(node, "output_padding", rank, 0));
  const std::string automatic = node.word("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  auto wanted = node.integers("output_shape");
  if (wanted && wanted->size() == rank + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (wanted && wanted->size() != rank) return invalid("output_shape is not that of the data");
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  for (const std::int64_t size : wanted.value_or(Extents{})) {
    if (size < 0 || size > kMost)
      return invalid(fmt::format("output_shape has the number {}", size));
  }
  for (std::size_t i = 0; (same || wanted) && i < rank; ++i) {
    const std::int64_t size = node.shape(data)[i + 2], stride = window.strides[i];
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t result = wanted ? (*wanted)[i] : size * stride;
    const std::int64_t total = (size - 1) * stride + padding[i] + span - result;
    if (total < 0) padding[i] -= total;
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    window.pads[i] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    window.pads[i + rank] = cut - window.pads[i];
  }
  Attributes attributes = to_attributes(window);
  attributes["group"] = node.integer("group", 1);
  attributes["output_padding"] = padding;
  return one(node.add("conv_transpose", {data, weight, node.input(2)}, std::move(attributes)));
}

Converted convert_deform_conv(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, conv_attributes(node, node.input(0), node.input(1)));
  attributes["offset_group"] = node.integer("offset_group", 1);
  return one(node.add("deform_conv",
                      {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)},
                      std::move(attributes)));
}

Converted convert_col2im(NodeContext& node) {
  ATTUNE_ASSIGN(const Extents image, node.integers_input(1, "image_shape"));
  ATTUNE_ASSIGN(const Extents block, node.integers_input(2, "block_shape"));
  const std::size_t rank = image.size();
  ATTUNE_ASSIGN(const Extents strides, list_attribute(node, "strides", rank, 1));
  ATTUNE_ASSIGN(const Extents dilations, list_attribute(node, "dilations", rank, 1));
  ATTUNE_ASSIGN(const Extents pads, list_attribute(node, "pads", 2 * rank, 0));
  return one(node.add("col2im", {node.input(0)},
                      {{"image_shape", image},
                       {"block_shape", block},
                       {"strides", strides},
                       {"dilations", dilations},
                       {"pads", pads}}));
}

}  // namespace attune::onnx
