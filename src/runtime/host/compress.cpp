// Compress: the slices along an axis (or the elements of the flattened tensor) whose flag is set.
#include <cstring>

#include "runtime/host/list.h"

namespace attune::runtime::host {

Status compress(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const HostTensor& input = call.inputs[0];
  const HostTensor& condition = call.inputs[1];
  if (condition.type != DType::Bool || condition.shape.rank() != 1) {
    return call.bad("the condition is not a vector of bool");
  }
  const bool flat = !call.attributes.contains("axis");
  const Shape shape = flat ? Shape{input.shape.elements()} : input.shape;
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), shape.rank()));
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < condition.shape[0]; ++i) {
    if (static_cast<const std::uint8_t*>(condition.data)[i] == 0) continue;
    if (i >= shape[axis]) {
      return call.bad("the condition selects slice " + std::to_string(i) + " of " +
                      std::to_string(shape[axis]));
    }
    kept.push_back(i);
  }
  Shape result = shape;
  result[axis] = std::ssize(kept);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (!call.has_output(0)) return {};
  const std::int64_t outer = Shape(shape.span().first(axis)).elements();
  const auto slice = static_cast<std::size_t>(Shape(shape.span().subspan(axis + 1)).elements()) *
                     byte_size(input.type);
  auto* to = static_cast<std::byte*>(call.outputs[0].data);
  for (std::int64_t i = 0; i < outer && slice > 0; ++i) {
    for (const std::int64_t k : kept) {
      const auto number = static_cast<std::size_t>(i * shape[axis] + k);
      std::memcpy(to, static_cast<const std::byte*>(input.data) + number * slice, slice);
      to += slice;
    }
  }
  return {};
}

}  // namespace attune::runtime::host
