// Transpose, Expand and Tile: the same elements in another order, or several times.
#include <algorithm>

#include "runtime/host/list.h"
#include "runtime/host/strides.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime::host {

Status transpose(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const HostTensor& input = call.inputs[0];
  const std::size_t rank = input.shape.rank();
  auto order = call.integers("perm");
  if (!order) {
    order.emplace();
    for (std::size_t d = rank; d-- > 0;) order->push_back(static_cast<std::int64_t>(d));
  }
  const Shape strides = row_major_strides(input.shape);
  Shape result;
  Shape result_strides;
  std::uint32_t seen = 0;
  for (const std::int64_t given : *order) {
    ATTUNE_ASSIGN(const std::size_t axis, call.axis(given, rank));
    if (order->size() != rank || (seen >> axis & 1) != 0) break;
    seen |= 1u << axis;
    result.push_back(input.shape[axis]);
    result_strides.push_back(strides[axis]);
  }
  if (result.rank() != rank || order->size() != rank) {
    return call.bad("perm does not name every axis once");
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (call.has_output(0)) {
    copy_strided(call.outputs[0].data, input.data, byte_size(input.type), result, result_strides,
                 0);
  }
  return {};
}

Status expand(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const auto wanted, call.integers(1, "shape"));
  if (!wanted || wanted->size() > kMaxRank) return call.bad("the new shape is missing or too long");
  Shape result = input.shape;
  if (!broadcast_into(result, Shape(*wanted))) {
    return call.bad("shape " + shape_text(input.shape.span()) + " does not broadcast to " +
                    shape_text(*wanted));
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (call.has_output(0)) {
    copy_strided(call.outputs[0].data, input.data, byte_size(input.type), result,
                 broadcast_strides(input.shape, result), 0);
  }
  return {};
}

Status tile(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const auto repeats, call.integers(1, "repeats"));
  const std::size_t rank = input.shape.rank();
  if (!repeats || repeats->size() != rank || 2 * rank > kMaxRank) {
    return call.bad("repeats do not fit the input");
  }
  // Each axis becomes two: how often, with stride 0, and the axis itself.
  const Shape strides = row_major_strides(input.shape);
  Shape result;
  Shape walked;
  Shape walked_strides;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t extent = 0;
    if ((*repeats)[d] < 0 || __builtin_mul_overflow((*repeats)[d], input.shape[d], &extent)) {
      return call.bad("an axis repeats " + std::to_string((*repeats)[d]) + " times");
    }
    result.push_back(extent);
    walked.push_back((*repeats)[d]);
    walked.push_back(input.shape[d]);
    walked_strides.push_back(0);
    walked_strides.push_back(strides[d]);
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  // With no elements the repeats alone may be more than a number holds.
  if (call.has_output(0) && result.elements() > 0) {
    copy_strided(call.outputs[0].data, input.data, byte_size(input.type), walked, walked_strides,
                 0);
  }
  return {};
}

}  // namespace attune::runtime::host
