// Concat and Split: tensors joined along an axis, and one taken apart.
#include <cstring>

#include "runtime/host/list.h"

namespace attune::runtime::host {
namespace {

std::size_t row_bytes(const HostTensor& tensor, std::size_t axis) {
  return static_cast<std::size_t>(Shape(tensor.shape.span().subspan(axis)).elements()) *
         byte_size(tensor.type);
}

}  // namespace

Status concat(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, call.inputs.size()));
  const HostTensor& first = call.inputs[0];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), first.shape.rank()));
  Shape result = first.shape;
  result[axis] = 0;
  for (const HostTensor& input : call.inputs) {
    if (!input.present || input.type != first.type || input.shape.rank() != result.rank()) {
      return call.bad("the inputs differ in type or number of dimensions");
    }
    for (std::size_t d = 0; d < result.rank(); ++d) {
      if (d != axis && input.shape[d] != first.shape[d]) {
        return call.bad("the inputs differ along axis " + std::to_string(d));
      }
    }
    result[axis] += input.shape[axis];
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, first.type, result));
  if (!call.has_output(0)) return {};
  const std::int64_t outer = Shape(result.span().first(axis)).elements();
  auto* to = static_cast<std::byte*>(call.outputs[0].data);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const HostTensor& input : call.inputs) {
      const std::size_t bytes = row_bytes(input, axis);
      if (bytes == 0) continue;
      std::memcpy(to,
                  static_cast<const std::byte*>(input.data) + static_cast<std::size_t>(o) * bytes,
                  bytes);
      to += bytes;
    }
  }
  return {};
}

Status split(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2, call.outputs.size()));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), input.shape.rank()));
  ATTUNE_ASSIGN(auto sizes, call.integers(1, "split"));
  const std::int64_t extent = input.shape[axis];
  const std::int64_t parts = std::ssize(call.outputs);
  if (parts == 0) return {};
  if (!sizes) {
    const std::int64_t part = (extent + parts - 1) / parts;  // the last one may be smaller
    sizes.emplace();
    for (std::int64_t left = extent; std::ssize(*sizes) < parts; left -= sizes->back()) {
      sizes->push_back(std::min(part, left));
    }
  }
  if (std::ssize(*sizes) != parts) return call.bad("there are not as many outputs as parts");
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const std::int64_t size = (*sizes)[i];
    if (size < 0 || size > extent - start) return call.bad("the parts do not fit the input");
    Shape result = input.shape;
    result[axis] = size;
    ATTUNE_RETURN_IF_ERROR(call.shape_output(i, input.type, result));
    const std::int64_t outer = Shape(result.span().first(axis)).elements();
    const std::size_t whole = row_bytes(input, axis);
    const std::size_t slice = extent > 0 ? whole / static_cast<std::size_t>(extent) : 0;
    const std::size_t bytes = slice * static_cast<std::size_t>(size);
    for (std::int64_t o = 0; call.has_output(i) && bytes > 0 && o < outer; ++o) {
      const auto row = static_cast<std::size_t>(o);
      std::memcpy(static_cast<std::byte*>(call.outputs[i].data) + row * bytes,
                  static_cast<const std::byte*>(input.data) + row * whole +
                      static_cast<std::size_t>(start) * slice,
                  bytes);
    }
    start += size;
  }
  if (start != extent) return call.bad("the parts do not fit the input");
  return {};
}

}  // namespace attune::runtime::host
