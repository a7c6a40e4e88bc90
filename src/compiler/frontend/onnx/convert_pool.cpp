// Pools.
#include <fmt/format.h>

#include "compiler/frontend/onnx/windows.h"

namespace attune::onnx {

Converted convert_max_pool(NodeContext& node) {
  const ValueId data = node.input(0);
  ATTUNE_ASSIGN(const WindowAttributes window, window_attributes(node, data, {}));
  ATTUNE_ASSIGN(const ValueId largest, node.add("max_pool", {data}, to_attributes(window)));
  std::vector<ValueId> results{largest};
  if (node.wants_output(1)) {
    Attributes attributes = to_attributes(window);
    attributes["storage_order"] = node.integer("storage_order", 0);
    ATTUNE_ASSIGN(const ValueId places,
                  node.add("max_pool_indices", {data}, std::move(attributes)));
    results.push_back(places);
  }
  return results;
}

Converted convert_average_pool(NodeContext& node) {
  ATTUNE_ASSIGN(WindowAttributes window, window_attributes(node, node.input(0), {}));
  const bool include = node.flag("count_include_pad");
  if (!include) window.counted.assign(window.counted.size(), 0);
  Attributes attributes = to_attributes(window);
  attributes["count_include_pad"] = std::int64_t{include};
  attributes["counted_pads"] = window.counted;
  return one(node.add("average_pool", {node.input(0)}, std::move(attributes)));
}

Converted convert_lp_pool(NodeContext& node) {
  ATTUNE_ASSIGN(const WindowAttributes window, window_attributes(node, node.input(0), {}));
  Attributes attributes = to_attributes(window);
  attributes["p"] = node.integer("p", 2);
  return one(node.add("lp_pool", {node.input(0)}, std::move(attributes)));
}

Converted convert_global_average_pool(NodeContext& node) {
  return one(node.add("global_average_pool", {node.input(0)}));
}

Converted convert_global_max_pool(NodeContext& node) {
  return one(node.add("global_max_pool", {node.input(0)}));
}

Converted convert_global_lp_pool(NodeContext& node) {
  const Extents& shape = node.shape(node.input(0));
  if (shape.size() < 3) return invalid("its input has no spatial dimensions");
  const std::size_t rank = shape.size() - 2;
  return one(node.add("lp_pool", {node.input(0)},
                      {{"kernel_shape", Extents(shape.begin() + 2, shape.end())},
                       {"strides", Extents(rank, 1)},
                       {"pads", Extents(2 * rank, 0)},
                       {"dilations", Extents(rank, 1)},
                       {"p", node.integer("p", 2)}}));
}

// Writes each element to the place that its pool took it from, into zeros.
Converted convert_max_unpool(NodeContext& node) {
  const ValueId data = node.input(0);
  ATTUNE_ASSIGN(const WindowAttributes window, window_attributes(node, data, {}));
  Extents shape = node.shape(data);
  const std::size_t rank = window.kernel.size();
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i + 2] = (shape[i + 2] - 1) * window.strides[i] + window.kernel[i] - window.pads[i] -
                   window.pads[i + rank];
  }
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) {
      return invalid("its result would be too large, or negative");
    }
  }
  const Extents row{node.type(data).elements()};
  ATTUNE_ASSIGN(const ValueId zeros, node.add("expand", {node.scalar(node.dtype(data), 0)},
                                              {{"shape", Extents{elements}}}));
  ATTUNE_ASSIGN(const ValueId places, node.reshape(node.input(1), row));
  ATTUNE_ASSIGN(const ValueId values, node.reshape(data, row));
  ATTUNE_ASSIGN(const ValueId filled,
                node.add("scatter_elements", {zeros, places, values},
                         {{"axis", std::int64_t{0}}, {"reduction", std::string("none")}}));
  ATTUNE_ASSIGN(const ValueId image, node.reshape(filled, shape));
  if (!node.has(2)) return std::vector{image};
  // Places count within what the pool saw; a larger shape adds to its end.
  ATTUNE_ASSIGN(const Extents wanted, node.integers_input(2, "output_shape"));
  if (wanted.size() != shape.size()) return invalid("output_shape is not that of the data");
  Extents pads(2 * shape.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) pads[i + shape.size()] = wanted[i] - shape[i];
  return one(node.add("pad", {image}, {{"pads", pads}, {"mode", std::string("constant")}}));
}

Converted convert_roi_align(NodeContext& node) {
  const std::string mode = node.word("mode", "avg");
  if (mode != "avg" && mode != "max") {
    return unsupported(fmt::format("mode '{}' is not known", mode));
  }
  const std::string fallback = node.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const std::string places = node.word("coordinate_transformation_mode", fallback);
  const std::int64_t height = node.integer("output_height", 1);
  const std::int64_t width = node.integer("output_width", 1);
  if (height < 1 || width < 1) return invalid("its output has no elements");
  return one(node.add("roi_align", node.inputs(),
                      {{"mode", mode},
                       {"output_height", height},
                       {"output_width", width},
                       {"sampling_ratio", node.integer("sampling_ratio", 0)},
                       {"spatial_scale", node.real("spatial_scale", 1)},
                       {"half_pixel", std::int64_t{places == "half_pixel"}}}));
}

Converted convert_max_roi_pool(NodeContext& node) {
  ATTUNE_ASSIGN(const Extents pooled, list_attribute(node, "pooled_shape", 2, 1));
  return one(
      node.add("max_roi_pool", node.inputs(),
               {{"pooled_shape", pooled}, {"spatial_scale", node.real("spatial_scale", 1)}}));
}

}  // namespace attune::onnx
