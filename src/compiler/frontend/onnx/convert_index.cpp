// Gathers and scatters, and tensors that follow from places alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

Result<std::int64_t> axis_of(NodeContext& node, std::int64_t fallback) {
  return node.axis(node.integer("axis", fallback), node.rank(node.input(0)));
}

}  // namespace

Converted convert_gather(NodeContext& node) {
  const ValueId data = node.input(0), indices = node.input(1);
  ATTUNE_ASSIGN(const std::int64_t axis, axis_of(node, 0));
  const ConstantPtr known = node.builder().constant_of(indices);
  const std::int64_t extent = node.shape(data)[static_cast<std::size_t>(axis)];
  if (known != nullptr && known->type.elements() == 1 && node.type(data).is_static()) {
    std::int64_t place = known->integer(0);  // one place is a slice
    if (place < 0) place += extent;
    if (place < 0 || place >= extent) {
      return invalid(fmt::format("index {} is out of range for {} elements", place, extent));
    }
    ATTUNE_ASSIGN(const ValueId part, slice_axis(node, data, axis, place, 1));
    Extents shape = node.shape(data);
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, known->type.shape.begin(), known->type.shape.end());
    return one(node.reshape(part, shape));
  }
  return one(node.add("gather", {data, indices}, {{"axis", axis}}));
}

Converted convert_gather_elements(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis, axis_of(node, 0));
  return one(node.add("gather_elements", node.inputs(), {{"axis", axis}}));
}

Converted convert_gather_nd(NodeContext& node) {
  return one(node.add("gather_nd", node.inputs(), {{"batch_dims", node.integer("batch_dims", 0)}}));
}

namespace {

Result<std::string> reduction_of(NodeContext& node) {
  const std::string reduction = node.word("reduction", "none");
  for (const char* known : {"none", "add", "mul", "max", "min"}) {
    if (reduction == known) return reduction;
  }
  return unsupported(fmt::format("reduction '{}' is not known", reduction));
}

}  // namespace

Converted convert_scatter_elements(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis, axis_of(node, 0));
  ATTUNE_ASSIGN(const std::string reduction, reduction_of(node));
  return one(
      node.add("scatter_elements", node.inputs(), {{"axis", axis}, {"reduction", reduction}}));
}

Converted convert_scatter_nd(NodeContext& node) {
  ATTUNE_ASSIGN(const std::string reduction, reduction_of(node));
  return one(node.add("scatter_nd", node.inputs(), {{"reduction", reduction}}));
}

Converted convert_tensor_scatter(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis, axis_of(node, -2));
  const std::string mode = node.word("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return unsupported(fmt::format("mode '{}' is not known", mode));
  }
  return one(node.add("tensor_scatter", node.inputs(), {{"axis", axis}, {"mode", mode}}));
}

namespace {

// A depth that is known at run time only, as the model states it of its result; the indices come
// back once the two are seen to agree.
Converted one_hot_as_declared(NodeContext& node, std::int64_t axis, std::int64_t depth) {
  const ir::DType type = node.dtype(node.input(1));
  ATTUNE_ASSIGN(const ValueId given, node.reshape(node.input(1), {}));
  ATTUNE_ASSIGN(const ValueId same,
                node.add("equal", {given, node.scalar(type, static_cast<double>(depth))}));
  const std::string message =
      fmt::format("the depth of {} is not the {} that the model states", node.label(), depth);
  ATTUNE_ASSIGN(const ValueId indices,
                node.add("require", {same, node.input(0)},
                         {{"expected", std::int64_t{1}}, {"message", message}}));
  return one(node.add("one_hot", {indices, node.input(2)}, {{"axis", axis}, {"depth", depth}}));
}

}  // namespace

Converted convert_one_hot(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis,
                node.axis(node.integer("axis", -1), node.rank(node.input(0)) + 1));
  const bool is_open = node.builder().constant_of(node.input(1)) == nullptr;
  if (const auto shape = node.declared_shape(0);
      is_open && shape && shape->size() == node.shape(node.input(0)).size() + 1) {
    return one_hot_as_declared(node, axis, (*shape)[static_cast<std::size_t>(axis)]);
  }
  ATTUNE_ASSIGN(const ConstantPtr depth, node.constant_input(1, "depth"));
  if (depth->type.elements() != 1) return invalid("its depth is not one number");
  return one(node.add("one_hot", {node.input(0), node.input(2)},
                      {{"axis", axis}, {"depth", depth->integer(0)}}));
}

Converted convert_eye_like(NodeContext& node) {
  const TensorType& like = node.type(node.input(0));
  if (like.rank() != 2 || !like.is_static()) {
    return invalid(fmt::format("{} is no matrix", ops::to_string(like)));
  }
  ir::DType type = like.dtype;
  if (node.has_attribute("dtype")) {
    ATTUNE_ASSIGN(type, element_type(static_cast<std::int32_t>(node.integer("dtype", 1))));
  }
  const std::int64_t k = std::clamp(node.integer("k", 0), -like.shape[0], like.shape[1]);
  ATTUNE_RETURN_IF_ERROR(node.count_made(type, like.shape));
  ir::Array eye(type, like.shape);
  for (std::int64_t row = 0; row < like.shape[0]; ++row) {
    const std::int64_t column = row + k;
    if (column < 0 || column >= like.shape[1]) continue;
    eye.set_real(row * like.shape[1] + column, 1);
  }
  return std::vector{node.constant(ops::make_constant(std::move(eye)))};
}

namespace {

// first + i * step; what goes beyond the type wraps around.
std::int64_t wrapped(std::int64_t first, std::int64_t i, std::int64_t step) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return static_cast<std::int64_t>(word(first) + word(i) * word(step));
}

}  // namespace

Converted convert_range(NodeContext& node) {
  for (const ValueId operand : node.inputs()) {
    if (node.builder().constant_of(operand) == nullptr) return convert_dynamic_range(node);
  }
  ATTUNE_ASSIGN(const ConstantPtr start, node.constant_input(0, "start"));
  ATTUNE_ASSIGN(const ConstantPtr limit, node.constant_input(1, "limit"));
  ATTUNE_ASSIGN(const ConstantPtr delta, node.constant_input(2, "delta"));
  for (const ConstantPtr& operand : {start, limit, delta}) {
    if (operand->type.elements() != 1 || operand->type.dtype != start->type.dtype) {
      return invalid("start, limit and delta are not numbers of one type");
    }
  }
  if (delta->real(0) == 0) return invalid("delta is 0");
  const double count = std::ceil((limit->real(0) - start->real(0)) / delta->real(0));
  if (!(count < 1e9)) return invalid(fmt::format("a range of {} elements is too long", count));
  const std::int64_t size = std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  ATTUNE_RETURN_IF_ERROR(node.count_made(start->type.dtype, {size}));
  ir::Array range(start->type.dtype, {size});
  for (std::int64_t i = 0; i < range.count(); ++i) {
    if (range.type.is_float()) {
      range.set_real(i, start->real(0) + static_cast<double>(i) * delta->real(0));
    } else {
      range.set_int(i, wrapped(start->integer(0), i, delta->integer(0)));
    }
  }
  return std::vector{node.constant(ops::make_constant(std::move(range)))};
}

Converted convert_trilu(NodeContext& node) {
  return one(
      node.add("trilu", {node.input(0), node.input(1)}, {{"upper", node.integer("upper", 1)}}));
}

Converted convert_reverse_sequence(NodeContext& node) {
  return one(node.add("reverse_sequence", node.inputs(),
                      {{"batch_axis", node.integer("batch_axis", 1)},
                       {"time_axis", node.integer("time_axis", 0)}}));
}

}  // namespace attune::onnx
