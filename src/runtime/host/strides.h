// Walking through row-major tensors.
#pragma once

#include <cstdint>

#include "runtime/host/host.h"

namespace attune::runtime::host {

// Steps between neighbours along each axis, in elements.
Shape row_major_strides(const Shape& shape);

// Calls visit(index, offset) for every index of `shape` in row-major order, offset being start plus
// the sum of index times stride. Visit gives a Status or nothing.
template <typename Visit>
void each_index(const Shape& shape, const Shape& strides, std::int64_t start, Visit visit) {
  const std::int64_t count = shape.elements();
  Shape index(shape.span());
  for (std::size_t d = 0; d < index.rank(); ++d) index[d] = 0;
  std::int64_t offset = start;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(index, offset);
    for (std::size_t d = shape.rank(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

// Copies elements of `width` bytes: to[i, j, …] = from[start + i * strides[0] + j * strides[1] +
// …], `to` being row-major. Strides may be 0 or negative.
void copy_strided(void* to, const void* from, std::size_t width, const Shape& shape,
                  const Shape& strides, std::int64_t start);

// The shape that both broadcast to by ONNX's (NumPy's) rule; nothing if they do not fit. `into` is
// one of them on entry.
bool broadcast_into(Shape& into, const Shape& other);
// Strides by which a tensor of shape `from` is read as if it had the shape `to`.
Shape broadcast_strides(const Shape& from, const Shape& to);

}  // namespace attune::runtime::host
