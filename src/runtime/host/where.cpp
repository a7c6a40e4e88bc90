// Where: elements of one tensor or another by a condition, broadcast against each other.
#include <cstring>

#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {

Status where(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(3, 3));
  const HostTensor& condition = call.inputs[0];
  const HostTensor& yes = call.inputs[1];
  const HostTensor& no = call.inputs[2];
  if (condition.type != DType::Bool || yes.type != no.type) {
    return call.bad("the condition is not bool, or the choices differ in type");
  }
  Shape result = condition.shape;
  if (!broadcast_into(result, yes.shape) || !broadcast_into(result, no.shape)) {
    return call.bad("the inputs do not broadcast to one shape");
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, yes.type, result));
  if (!call.has_output(0)) return {};
  const std::size_t width = byte_size(yes.type);
  const Shape condition_strides = broadcast_strides(condition.shape, result);
  const Shape yes_strides = broadcast_strides(yes.shape, result);
  const Shape no_strides = broadcast_strides(no.shape, result);
  auto* to = static_cast<std::byte*>(call.outputs[0].data);
  each_index(result, condition_strides, 0, [&](const Shape& index, std::int64_t at) {
    const bool chosen = static_cast<const std::uint8_t*>(condition.data)[at] != 0;
    const Shape& strides = chosen ? yes_strides : no_strides;
    std::int64_t from = 0;
    for (std::size_t d = 0; d < index.rank(); ++d) from += index[d] * strides[d];
    std::memcpy(to,
                static_cast<const std::byte*>(chosen ? yes.data : no.data) +
                    static_cast<std::size_t>(from) * width,
                width);
    to += width;
  });
  return {};
}

}  // namespace attune::runtime::host
