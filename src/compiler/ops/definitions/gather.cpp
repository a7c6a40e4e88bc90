// Gathers: elements at places that data names. Negative indices count from the end; indices that
// are out of range all the same read the nearest element instead of foreign memory.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

Status check_indices(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const ir::DType type = call.inputs[1].dtype;
  if (!type.is_int()) return does_not_fit(call, "indices are integers");
  return {};
}

Types infer_gather(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_indices(call));
  const TensorType& data = call.inputs[0];
  const TensorType& indices = call.inputs[1];
  const std::int64_t axis = call.integer("axis");
  if (axis < 0 || axis >= data.rank()) {
    return does_not_fit(call, fmt::format("there is no dimension {}", axis));
  }
  if (data.shape[static_cast<std::size_t>(axis)] == 0 && indices.elements() > 0) {
    return does_not_fit(call, fmt::format("dimension {} is empty", axis));
  }
  TensorType type{data.dtype, {data.shape.begin(), data.shape.begin() + axis}, {}};
  type.shape.insert(type.shape.end(), indices.shape.begin(), indices.shape.end());
  type.shape.insert(type.shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  return std::vector{type};
}

ir::Expr gather_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const std::int64_t axis = call.integer("axis");
  const auto behind = index.begin() + axis + call.inputs[1].rank();
  Index from(index.begin(), index.begin() + axis);
  from.push_back(data_index(inputs[1](Index(index.begin() + axis, behind)),
                            call.inputs[0].shape[static_cast<std::size_t>(axis)]));
  from.insert(from.end(), behind, index.end());
  return inputs[0](from);
}

Types infer_gather_elements(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_indices(call));
  const TensorType& data = call.inputs[0];
  const TensorType& indices = call.inputs[1];
  const std::int64_t axis = call.integer("axis");
  bool fits = axis >= 0 && axis < data.rank() && data.rank() == indices.rank();
  for (std::size_t i = 0; fits && i < data.shape.size(); ++i) {
    fits = static_cast<std::int64_t>(i) == axis || indices.shape[i] <= data.shape[i];
  }
  if (!fits) return does_not_fit(call, fmt::format("indices reach beyond data, axis {}", axis));
  return std::vector<TensorType>{{data.dtype, indices.shape, {}}};
}

ir::Expr gather_elements_element(const OpCall& call, const std::vector<Read>& inputs,
                                 const Index& index) {
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  Index from = index;
  from[axis] = data_index(inputs[1](index), call.inputs[0].shape[axis]);
  return inputs[0](from);
}

Types infer_gather_nd(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_indices(call));
  const TensorType& data = call.inputs[0];
  const TensorType& indices = call.inputs[1];
  const std::int64_t batch = call.integer("batch_dims");
  if (indices.rank() == 0) return does_not_fit(call, "indices have no dimension");
  const std::int64_t depth = indices.shape.back();
  bool fits = batch >= 0 && batch < indices.rank() && batch + depth <= data.rank();
  for (std::int64_t i = 0; fits && i < batch; ++i) {
    const auto at = static_cast<std::size_t>(i);
    fits = data.shape[at] == indices.shape[at];
  }
  if (!fits) {
    return does_not_fit(call, fmt::format("{} indices after {} batch dimensions", depth, batch));
  }
  TensorType type{data.dtype, {indices.shape.begin(), indices.shape.end() - 1}, {}};
  type.shape.insert(type.shape.end(), data.shape.begin() + batch + depth, data.shape.end());
  return std::vector{type};
}

ir::Expr gather_nd_element(const OpCall& call, const std::vector<Read>& inputs,
                           const Index& index) {
  const std::int64_t batch = call.integer("batch_dims");
  const TensorType& indices = call.inputs[1];
  const auto behind = index.begin() + indices.rank() - 1;
  Index from(index.begin(), index.begin() + batch);
  for (std::int64_t i = 0; i < indices.shape.back(); ++i) {
    Index place(index.begin(), behind);
    place.emplace_back(i);
    from.push_back(
        data_index(inputs[1](place), call.inputs[0].shape[static_cast<std::size_t>(batch + i)]));
  }
  from.insert(from.end(), behind, index.end());
  return inputs[0](from);
}

}  // namespace

std::vector<OpDef> gather_operators() {
  return {
      by_element("gather", OpKind::Injective, infer_gather, gather_element, {.narrow = true}),
      by_element("gather_elements", OpKind::Injective, infer_gather_elements,
                 gather_elements_element, {.narrow = true}),
      by_element("gather_nd", OpKind::Injective, infer_gather_nd, gather_nd_element,
                 {.narrow = true, .host = "GatherND"}),
  };
}

}  // namespace attune::ops
