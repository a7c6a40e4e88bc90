// Slice and Range whose bounds depend on data: at places that do, but of a size that does not, or,
// by functions of the runtime, of a size that does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/affine.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// first, first + 1, …: i64 [size].
Result<ValueId> counted_from(NodeContext& node, ValueId first, std::int64_t size) {
  const ir::DType type = node.dtype(first);
  ATTUNE_RETURN_IF_ERROR(node.count_made(type, {size}));
  ir::Array steps(type, {size});
  for (std::int64_t i = 0; i < size; ++i) steps.set_int(i, i);
  ATTUNE_ASSIGN(const ValueId start, node.reshape(first, {1}));
  return node.add("add", {start, node.constant(ops::make_constant(std::move(steps)))});
}

bool is_one(NodeContext& node, std::size_t input) {
  return !node.has(input) ||
         known_number(node, node.input(input)) == std::optional(std::int64_t{1});
}

}  // namespace

Result<ValueId> add_on_host(NodeContext& node, const std::string& op, std::vector<ValueId> inputs,
                            Attributes attributes, const TensorType& result) {
  attributes["op"] = op;
  attributes["result_type"] = ir::to_string(result.dtype);
  attributes["result_shape"] = result.shape;
  attributes["result_extents"] = Extents(result.extents.begin(), result.extents.end());
  return node.add("on_host", std::move(inputs), std::move(attributes));
}

Converted convert_dynamic_slice(NodeContext& node) {
  const ValueId data = node.input(0);
  TensorType type = node.type(data);
  Extents axes;
  if (node.has(3)) {
    ATTUNE_ASSIGN(axes, node.integers_input(3, "axes"));
  } else {
    for (std::int64_t i = 0; i < node.type(node.input(1)).elements(); ++i) axes.push_back(i);
  }
  ATTUNE_ASSIGN(axes, node.axes(axes, node.rank(data)));
  const graph::Graph& graph = node.builder().graph();
  if (axes.size() == 1 && is_one(node, 4) && type.is_static()) {
    const auto size = constant_distance(graph, node.input(1), node.input(2));
    if (size && *size > 0 && *size <= type.shape[static_cast<std::size_t>(axes[0])]) {
      ATTUNE_ASSIGN(const ValueId places, counted_from(node, node.input(1), *size));
      return one(node.add("gather", {data, places}, {{"axis", axes[0]}}));
    }
  }
  type.extents.resize(type.shape.size(), ops::kConstantExtent);
  for (const std::int64_t axis : axes) {
    type.extents[static_cast<std::size_t>(axis)] = node.builder().new_extent();
  }
  return one(add_on_host(node, "Slice", node.inputs(), {}, type));
}

Converted convert_dynamic_range(NodeContext& node) {
  const auto size = constant_distance(node.builder().graph(), node.input(0), node.input(1));
  if (size && *size > 0 && is_one(node, 2) && node.dtype(node.input(0)).is_int()) {
    return one(counted_from(node, node.input(0), *size));
  }
  if (const auto shape = node.declared_shape(0); shape && shape->size() == 1) {
    const TensorType type{node.dtype(node.input(0)), *shape, {node.builder().new_extent()}};
    return one(add_on_host(node, "Range", node.inputs(), {}, type));
  }
  const auto start = node.find_bounds(0), limit = node.find_bounds(1), delta = node.find_bounds(2);
  if (start && limit && delta && delta->front().least > 0) {
    const double steps = (limit->front().most - start->front().least) / delta->front().least;
    ATTUNE_ASSIGN(const TensorType type,
                  bounded_type(node, node.dtype(node.input(0)), {{0, std::ceil(steps)}}));
    return one(add_on_host(node, "Range", node.inputs(), {}, type));
  }
  for (const auto& [input, role] :
       {std::pair(0, "start"), std::pair(1, "limit"), std::pair(2, "delta")}) {
    const auto known = node.bounds_input(static_cast<std::size_t>(input), role);
    if (!known.ok()) return known.error();
  }
  return invalid("its bounds are not numbers");
}

}  // namespace attune::onnx
