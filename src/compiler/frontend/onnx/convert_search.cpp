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
  Attributes attributes{{"axis", axis},
                        {"largest", node.integer("largest", 1)},
                        {"sorted", node.integer("sorted", 1)}};
  std::vector<ValueId> operands{node.input(0)};
  if (node.has_attribute("k")) {
    attributes["k"] = node.integer("k", -1);
  } else if (node.is_open(1)) {
    // Not more than there are.
    std::int64_t most = node.shape(node.input(0))[static_cast<std::size_t>(axis)];
    if (const auto bounds = node.find_bounds(1)) most = std::min(most, bounds->front().size());
    attributes["k"] = most;
    attributes["extent"] = std::int64_t{node.builder().new_extent()};
    operands.push_back(node.input(1));
  } else {
    ATTUNE_ASSIGN(attributes["k"], node.integer_input(1, "K"));
  }
  return node.builder().add_node("top_k", std::move(operands), std::move(attributes));
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
