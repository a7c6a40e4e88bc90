#include "runtime/host/strides.h"

#include <algorithm>
#include <cstring>

namespace attune::runtime::host {
namespace {

void copy_row(std::byte* to, const std::byte* from, std::size_t width, std::int64_t count,
              std::int64_t stride) {
  const auto step = stride * static_cast<std::int64_t>(width);
  if (stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * width);
    return;
  }
  // A constant width makes each memcpy one move.
  const auto move = [&]<std::size_t kWidth>() {
    for (std::int64_t i = 0; i < count; ++i, to += kWidth, from += step) {
      std::memcpy(to, from, kWidth);
    }
  };
  switch (width) {
    case 1:
      return move.operator()<1>();
    case 2:
      return move.operator()<2>();
    case 4:
      return move.operator()<4>();
    default:
      return move.operator()<8>();
  }
}

}  // namespace

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.span());
  std::int64_t step = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

void copy_strided(void* to, const void* from, std::size_t width, const Shape& shape,
                  const Shape& strides, std::int64_t start) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (shape.elements() == 0) return;
  // Axes from the right that the source has in one piece make up a row.
  Shape outer = shape;
  std::int64_t row = 1;
  std::int64_t row_stride = 1;
  if (shape.rank() > 0) {
    std::size_t d = shape.rank() - 1;
    row = shape[d];
    row_stride = strides[d];
    while (d > 0 && strides[d - 1] == row_stride * row) row *= shape[--d];
    outer = Shape(shape.span().first(d));
  }
  std::int64_t row_number = 0;
  each_index(outer, strides, start, [&](const Shape&, std::int64_t offset) {
    copy_row(target + row_number++ * row * static_cast<std::int64_t>(width),
             source + offset * static_cast<std::int64_t>(width), width, row, row_stride);
  });
}

bool broadcast_into(Shape& into, const Shape& other) {
  const std::size_t rank = std::max(into.rank(), other.rank());
  Shape result;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto extent = [&](const Shape& shape) {
      const std::size_t missing = rank - shape.rank();
      return d < missing ? 1 : shape[d - missing];
    };
    const std::int64_t a = extent(into);
    const std::int64_t b = extent(other);
    if (a != b && a != 1 && b != 1) return false;
    result.push_back(a == 1 ? b : a);
  }
  into = result;
  return true;
}

Shape broadcast_strides(const Shape& from, const Shape& to) {
  const Shape own = row_major_strides(from);
  const std::size_t missing = to.rank() - from.rank();
  Shape strides;
  for (std::size_t d = 0; d < to.rank(); ++d) {
    strides.push_back(d < missing || from[d - missing] == 1 ? 0 : own[d - missing]);
  }
  return strides;
}

}  // namespace attune::runtime::host
