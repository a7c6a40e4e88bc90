#include "compiler/ops/definitions/reduced_axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::ops {
namespace {

bool is_in(const std::vector<std::int64_t>& axes, std::size_t d) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
}

}  // namespace

ReducedAxes::ReducedAxes(const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& axes, bool keep) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool reduce = is_in(axes, d);
    if (reduce) {
      reduced_.push_back({fmt::format("r{}", reduced_.size()), shape[d]});
      input_index_.push_back(ir::axis_var(reduced_.back()));
      count_ *= shape[d];
    }
    if (reduce && !keep) continue;
    kept_.push_back({fmt::format("d{}", kept_.size()), reduce ? 1 : shape[d]});
    kept_index_.push_back(ir::axis_var(kept_.back()));
    if (!reduce) input_index_.push_back(kept_index_.back());
  }
  if (reduced_.empty()) reduced_.push_back({"r0", 1});
}

Status check_axes(const OpCall& call, const std::vector<std::int64_t>& axes) {
  for (const std::int64_t axis : axes) {
    if (axis >= 0 && axis < call.inputs[0].rank()) continue;
    return invalid(
        fmt::format("{} of {} has no axis {}", call.name, to_string(call.inputs[0]), axis));
  }
  return {};
}

Result<TensorType> reduced_type(const OpCall& call, const std::vector<std::int64_t>& axes,
                                bool keep) {
  const TensorType& input = call.inputs[0];
  ATTUNE_RETURN_IF_ERROR(check_axes(call, axes));
  TensorType type{input.dtype, {}, {}};
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    const bool dynamic = !input.extents.empty() && input.extents[d] != kConstantExtent;
    const bool reduce = is_in(axes, d);
    if (reduce && dynamic) {
      return unsupported(
          fmt::format("{} of {} over a size that depends on data", call.name, to_string(input)));
    }
    if (reduce && !keep) continue;
    type.shape.push_back(reduce ? 1 : input.shape[d]);
    if (!input.extents.empty()) type.extents.push_back(reduce ? kConstantExtent : input.extents[d]);
  }
  if (input.elements() == 0 && type.elements() != 0) {
    return unsupported(fmt::format("{} of {}, which is empty", call.name, to_string(input)));
  }
  return type;
}

}  // namespace attune::ops
