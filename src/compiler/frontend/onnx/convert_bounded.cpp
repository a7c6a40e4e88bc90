// ConstantOfShape, Expand and Tile to sizes that are known at run time, and at most so large: by
// functions of the runtime.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {

Result<TensorType> bounded_type(NodeContext& node, ir::DType dtype, const Bounds& sizes) {
  constexpr std::int64_t kLargestBytes = std::int64_t{1} << 40;
  TensorType type{dtype, {}, {}};
  std::int64_t bytes = dtype.element_bytes();
  for (const Bound& size : sizes) {
    type.shape.push_back(size.size());
    type.extents.push_back(size.is_exact() ? ops::kConstantExtent : node.builder().new_extent());
    if (__builtin_mul_overflow(bytes, size.size(), &bytes) || bytes > kLargestBytes) {
      return invalid(
          fmt::format("its result can be as large as {}, which is too much", ops::to_string(type)),
          "state a smaller --max");
    }
  }
  return type;
}

Converted convert_bounded_constant(NodeContext& node, const ConstantPtr& value) {
  ATTUNE_ASSIGN(const Bounds sizes, node.bounds_input(0, "input"));
  ATTUNE_ASSIGN(const TensorType type, bounded_type(node, value->type.dtype, sizes));
  Attributes attributes{{"value", value->real(0)}};
  if (value->type.dtype.is_int() || value->type.dtype.is_bool()) {
    attributes["value"] = value->integer(0);
  }
  return one(add_on_host(node, "ConstantOfShape", {node.input(0)}, std::move(attributes), type));
}

Converted convert_bounded_expand(NodeContext& node) {
  ATTUNE_ASSIGN(Bounds sizes, node.bounds_input(1, "shape"));
  const Extents& from = node.shape(node.input(0));
  const auto rank = std::max(sizes.size(), from.size());
  sizes.insert(sizes.begin(), rank - sizes.size(), {1, 1});
  for (std::size_t i = 0; i < from.size(); ++i) {
    Bound& size = sizes[rank - from.size() + i];
    const auto extent = static_cast<double>(from[i]);
    if (from[i] != 1) size = {extent, extent};  // the shape says the same, or 1
  }
  ATTUNE_ASSIGN(const TensorType type, bounded_type(node, node.dtype(node.input(0)), sizes));
  return one(add_on_host(node, "Expand", node.inputs(), {}, type));
}

Converted convert_bounded_tile(NodeContext& node) {
  ATTUNE_ASSIGN(Bounds sizes, node.bounds_input(1, "repeats"));
  const Extents& from = node.shape(node.input(0));
  if (sizes.size() != from.size()) {
    return invalid(fmt::format("{} repeats for {} dimensions", sizes.size(), from.size()));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto extent = static_cast<double>(from[i]);
    sizes[i] = {sizes[i].least * extent, sizes[i].most * extent};
  }
  ATTUNE_ASSIGN(const TensorType type, bounded_type(node, node.dtype(node.input(0)), sizes));
  return one(add_on_host(node, "Tile", node.inputs(), {}, type));
}

}  // namespace attune::onnx
