// Operators that functions of the runtime compute: sorting, searching, writing at places that data
// names, and everything whose size depends on data. An output of such a size takes the largest it
// can have, and the run-time extent whose number the attribute `extent` gives.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;

TensorType with_extent(const OpCall& call, ir::DType dtype, Shape shape, std::size_t axis) {
  TensorType type{dtype, std::move(shape), {}};
  type.extents.assign(type.shape.size(), kConstantExtent);
  type.extents[axis] = static_cast<int>(call.integer("extent"));
  return type;
}

Result<std::size_t> axis_of(const OpCall& call) {
  const std::int64_t axis = call.integer("axis");
  if (axis < 0 || axis >= call.inputs[0].rank()) {
    return does_not_fit(call, fmt::format("there is no dimension {}", axis));
  }
  return static_cast<std::size_t>(axis);
}

// {extent}: the places [rank, n] of elements that are not 0.
Types infer_non_zero(const OpCall& call) {
  const TensorType& data = call.inputs[0];
  return std::vector{with_extent(call, ir::kI64, {data.rank(), data.elements()}, 1)};
}

// {axis (absent: of all elements in a row), extent}: data, which to keep.
Types infer_compress(const OpCall& call) {
  const TensorType& data = call.inputs[0];
  const TensorType& kept = call.inputs[1];
  if (kept.rank() != 1 || !kept.dtype.is_bool()) return does_not_fit(call, "needs a row of bools");
  if (!call.has_attribute("axis")) {
    return std::vector{
        with_extent(call, data.dtype, {std::min(data.elements(), kept.shape[0])}, 0)};
  }
  ATTUNE_ASSIGN(const std::size_t axis, axis_of(call));
  Shape shape = data.shape;
  shape[axis] = std::min(shape[axis], kept.shape[0]);
  return std::vector{with_extent(call, data.dtype, shape, axis)};
}

// {axis (absent: of all elements in a row), sorted, extent}: values, first places, inverse,
// counts.
Types infer_unique(const OpCall& call) {
  const TensorType& data = call.inputs[0];
  Shape shape{data.elements()};
  std::size_t axis = 0;
  if (call.has_attribute("axis")) {
    ATTUNE_ASSIGN(axis, axis_of(call));
    shape = data.shape;
  }
  const Shape row{shape[axis]};
  return std::vector<TensorType>{with_extent(call, data.dtype, shape, axis),
                                 with_extent(call, ir::kI64, row, 0),
                                 {ir::kI64, row, {}},
                                 with_extent(call, ir::kI64, row, 0)};
}

// {axis, k, largest, sorted, extent}: data, how many (optional, at most k): values and places.
Types infer_top_k(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  ATTUNE_ASSIGN(const std::size_t axis, axis_of(call));
  TensorType type = call.inputs[0];
  const std::int64_t k = call.integer("k");
  if (k < 0 || k > type.shape[axis]) {
    return does_not_fit(
        call, fmt::format("k is {}, dimension {} has {} elements", k, axis, type.shape[axis]));
  }
  type.shape[axis] = k;
  if (call.has(1)) type = with_extent(call, type.dtype, type.shape, axis);
  return std::vector<TensorType>{type, {ir::kI64, type.shape, type.extents}};
}

// {center_point_box, most (boxes per class that come back at most), extent}: boxes [n, b, 4],
// scores [n, classes, b], optional scalars: how many, overlap and score thresholds.
Types infer_non_max_suppression(const OpCall& call) {
  const Shape& boxes = call.inputs[0].shape;
  const Shape& scores = call.inputs[1].shape;
  if (boxes.size() != 3 || boxes[2] != 4 || scores.size() != 3 || scores[0] != boxes[0] ||
      scores[2] != boxes[1]) {
    return does_not_fit(call, "needs boxes [n,b,4] and scores [n,classes,b]");
  }
  const std::int64_t most = std::min(call.integer("most"), boxes[1]);
  return std::vector{with_extent(call, ir::kI64, {scores[0] * scores[1] * most, 3}, 0)};
}

// {axis, reduction: none, add, mul, max, min}: data, indices, updates.
Types infer_scatter_elements(const OpCall& call) {
  ATTUNE_ASSIGN(const std::size_t axis, axis_of(call));
  const Shape& data = call.inputs[0].shape;
  const Shape& indices = call.inputs[1].shape;
  bool fits = indices.size() == data.size() && call.inputs[2].shape == indices &&
              call.inputs[1].dtype.is_int();
  for (std::size_t i = 0; fits && i < data.size(); ++i) {
    fits = i == axis || indices[i] <= data[i];
  }
  if (!fits) return does_not_fit(call, fmt::format("indices reach beyond data, axis {}", axis));
  return std::vector{call.inputs[0]};
}

// {reduction}: data, indices [… , depth], updates.
Types infer_scatter_nd(const OpCall& call) {
  const Shape& data = call.inputs[0].shape;
  const Shape& indices = call.inputs[1].shape;
  if (indices.empty() || indices.back() > call.inputs[0].rank() || !call.inputs[1].dtype.is_int()) {
    return does_not_fit(call, "indices do not belong to the data");
  }
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + indices.back(), data.end());
  if (call.inputs[2].shape != updates) return does_not_fit(call, "updates do not fit the indices");
  return std::vector{call.inputs[0]};
}

// {expected, message}: condition, value; the value, unless the condition is not as expected.
Types infer_require(const OpCall& call) {
  if (!call.inputs[0].dtype.is_bool() || call.inputs[0].elements() != 1) {
    return does_not_fit(call, "needs one bool");
  }
  return std::vector{call.inputs[1]};
}

// {op, result_type, result_shape, result_extents, …}: an operator of ONNX with its attributes, for
// sizes that depend on data; whoever adds it knows how large the result can be.
Types infer_on_host(const OpCall& call) {
  const auto dtype = ir::parse_dtype(call.word("result_type"));
  CHECK(dtype.has_value(), "the type of the result has a name");
  const Shape& extents = call.integers("result_extents");
  return std::vector<TensorType>{
      {*dtype, call.integers("result_shape"), {extents.begin(), extents.end()}}};
}

}  // namespace

std::vector<OpDef> data_dependent_operators() {
  return {
      by_runtime("non_zero", infer_non_zero),
      by_runtime("compress", infer_compress),
      by_runtime("unique", infer_unique),
      by_runtime("top_k", infer_top_k),
      by_runtime("non_max_suppression", infer_non_max_suppression),
      by_runtime("scatter_elements", infer_scatter_elements),
      by_runtime("scatter_nd", infer_scatter_nd, {.host = "ScatterND"}),
      by_runtime("require", infer_require),
      by_runtime("on_host", infer_on_host),
  };
}

}  // namespace attune::ops
