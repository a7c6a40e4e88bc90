// Operators whose result's size depends on data, and sorting.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// With a run-time extent of its own, and the axis if the node has one.
Result<Attributes> attributes_of(NodeContext& node) {
  Attributes attributes{{"extent", std::int64_t{node.builder().new_extent()}}};
  if (node.has_attribute("axis")) {
    ATTUNE_ASSIGN(const std::int64_t axis,
                  node.axis(node.integer("axis", 0), node.rank(node.input(0))));
    attributes["axis"] = axis;
  }
  return attributes;
}

}  // namespace

Converted convert_compress(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, attributes_of(node));
  return one(node.add("compress", node.inputs(), std::move(attributes)));
}

Converted convert_non_zero(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, attributes_of(node));
  return one(node.add("non_zero", {node.input(0)}, std::move(attributes)));
}

Converted convert_unique(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, attributes_of(node));
  attributes["sorted"] = node.integer("sorted", 1);
  return node.builder().add_node("unique", {node.input(0)}, std::move(attributes));
}

Converted convert_top_k(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis,
                node.axis(node.integer("axis", -1), node.rank(node.input(0))));
  std::int64_t k = node.integer("k", -1);
  if (!node.has_attribute("k")) {
    ATTUNE_ASSIGN(k, node.integer_input(1, "K"));
  }
  return node.builder().add_node("top_k", {node.input(0)},
                                 {{"axis", axis},
                                  {"k", k},
                                  {"largest", node.integer("largest", 1)},
                                  {"sorted", node.integer("sorted", 1)}});
}

Converted convert_non_max_suppression(NodeContext& node) {
  ATTUNE_ASSIGN(Attributes attributes, attributes_of(node));
  attributes["center_point_box"] = node.integer("center_point_box", 0);
  std::int64_t most = 0;
  if (node.has(2)) {
    const ConstantPtr known = node.builder().constant_of(node.input(2));
    most = known != nullptr && known->type.elements() == 1
               ? std::max<std::int64_t>(known->integer(0), 0)
               : std::int64_t{1} << 62;
  }
  attributes["most"] = most;
  return one(node.add("non_max_suppression", node.inputs(), std::move(attributes)));
}

}  // namespace attune::onnx
