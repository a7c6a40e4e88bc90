#include "compiler/graph/constants.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace attune::graph {
namespace {

std::int64_t product(const std::vector<std::int64_t>& shape, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t i = begin; i < end; ++i) count *= shape[i];
  return count;
}

// One matrix of a transpose: element (i, j) of the result, j contiguous, lies i elements and j
// strides away in the source. Goes in tiles, so that both sides stay in the cache.
template <typename Element>
void transpose_matrix(const std::byte* from, std::byte* to, std::int64_t rows, std::int64_t columns,
                      std::int64_t from_stride, std::int64_t to_stride) {
  constexpr std::int64_t kTile = 32;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Element));
  for (std::int64_t i0 = 0; i0 < rows; i0 += kTile) {
    for (std::int64_t j0 = 0; j0 < columns; j0 += kTile) {
      for (std::int64_t i = i0; i < std::min(i0 + kTile, rows); ++i) {
        for (std::int64_t j = j0; j < std::min(j0 + kTile, columns); ++j) {
          std::memcpy(to + i * to_stride + j * kBytes, from + i * kBytes + j * from_stride,
                      sizeof(Element));
        }
      }
    }
  }
}

using MatrixTranspose = void (*)(const std::byte*, std::byte*, std::int64_t, std::int64_t,
                                 std::int64_t, std::int64_t);

MatrixTranspose matrix_transpose(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose_matrix<std::uint8_t>;
    case 2:
      return transpose_matrix<std::uint16_t>;
    case 4:
      return transpose_matrix<std::uint32_t>;
    default:
      return transpose_matrix<std::uint64_t>;
  }
}

// Calls `use` with the offsets of all elements of a box of `shape` by two kinds of strides.
template <typename Use>
void for_each_offset(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& a,
                     const std::vector<std::int64_t>& b, Use use) {
  if (product(shape, 0, shape.size()) == 0) return;
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t at_a = 0, at_b = 0;
  while (true) {
    use(at_a, at_b);
    std::size_t d = shape.size();
    while (d > 0 && index[d - 1] + 1 == shape[d - 1]) {
      --d;
      at_a -= index[d] * a[d];
      at_b -= index[d] * b[d];
      index[d] = 0;
    }
    if (d == 0) return;
    ++index[d - 1];
    at_a += a[d - 1];
    at_b += b[d - 1];
  }
}

}  // namespace

std::vector<double> reals(const Constant& constant) {
  const auto count = static_cast<std::size_t>(constant.type.elements());
  std::vector<double> values(count);
  if (constant.type.dtype == ir::kF32) {
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, constant.bytes.data() + i * sizeof(float), sizeof(float));
      values[i] = value;
    }
    return values;
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = constant.real(static_cast<std::int64_t>(i));
  return values;
}

ConstantPtr real_constant(const TensorType& type, const std::vector<double>& values) {
  CHECK(type.dtype.is_float(), "a constant of a float type");
  CHECK(static_cast<std::size_t>(type.elements()) == values.size(), "as many values as elements");
  ir::Array array(type.dtype, type.shape);
  if (type.dtype == ir::kF32) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(values[i]);
      std::memcpy(array.data.data() + i * sizeof(float), &value, sizeof(float));
    }
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      array.set_real(static_cast<std::int64_t>(i), values[i]);
    }
  }
  return ops::make_constant(std::move(array));
}

ConstantPtr map_constant(const Constant& constant, const std::function<double(double)>& change) {
  std::vector<double> values = reals(constant);
  for (double& value : values) value = change(value);
  return real_constant(constant.type, values);
}

ConstantPtr transpose_constant(const Constant& constant, const std::vector<std::int64_t>& perm) {
  const std::vector<std::int64_t>& shape = constant.type.shape;
  const std::int64_t width = constant.type.dtype.element_bytes();
  std::vector<std::int64_t> extents, from, to;
  std::size_t rows = 0;  // the dimension of the result that is contiguous in the source
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const auto axis = static_cast<std::size_t>(perm[i]);
    extents.push_back(shape[axis]);
    from.push_back(width * product(shape, axis + 1, shape.size()));
    if (axis + 1 == shape.size()) rows = i;
  }
  for (std::size_t i = 0; i < perm.size(); ++i) {
    to.push_back(width * product(extents, i + 1, extents.size()));
  }
  ir::Array array(constant.type.dtype, extents);
  const std::byte* source = constant.bytes.data();
  std::byte* target = array.data.data();
  std::vector<std::int64_t> outer = extents;
  if (perm.empty() || rows + 1 == perm.size()) {  // whole rows move
    const std::int64_t bytes = perm.empty() ? width : width * extents.back();
    if (!perm.empty()) outer.back() = outer.back() == 0 ? 0 : 1;
    for_each_offset(outer, from, to, [&](std::int64_t a, std::int64_t b) {
      std::memcpy(target + b, source + a, static_cast<std::size_t>(bytes));
    });
  } else {
    const std::int64_t columns = outer.back(), count = outer[rows];
    outer.back() = columns == 0 ? 0 : 1;
    outer[rows] = count == 0 ? 0 : 1;
    const MatrixTranspose move = matrix_transpose(width);
    for_each_offset(outer, from, to, [&](std::int64_t a, std::int64_t b) {
      move(source + a, target + b, count, columns, from.back(), to[rows]);
    });
  }
  return ops::make_constant(std::move(array));
}

ConstantPtr reshape_constant(const ConstantPtr& constant, std::vector<std::int64_t> shape) {
  TensorType type{constant->type.dtype, std::move(shape), {}};
  CHECK(type.elements() == constant->type.elements(), "a reshape keeps the number of elements");
  return std::make_shared<const Constant>(
      Constant{std::move(type), constant->bytes, constant->owner});
}

ConstantPtr concat_constants(const std::vector<ConstantPtr>& parts, std::size_t axis) {
  std::vector<std::int64_t> shape = parts.front()->type.shape;
  for (std::size_t i = 1; i < parts.size(); ++i) shape[axis] += parts[i]->type.shape[axis];
  ir::Array array(parts.front()->type.dtype, shape);
  std::byte* to = array.data.data();
  const std::int64_t rows = product(shape, 0, axis);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const ConstantPtr& part : parts) {
      const std::size_t bytes = part->bytes.size() / static_cast<std::size_t>(rows);
      std::memcpy(to, part->bytes.data() + static_cast<std::size_t>(row) * bytes, bytes);
      to += bytes;
    }
  }
  return ops::make_constant(std::move(array));
}

bool same_contents(const Constant& a, const Constant& b) {
  return a.type == b.type && a.bytes.size() == b.bytes.size() &&
         (a.bytes.data() == b.bytes.data() || a.bytes.empty() ||
          std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
}

}  // namespace attune::graph
