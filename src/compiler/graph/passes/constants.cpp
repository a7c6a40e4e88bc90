#include "compiler/graph/passes/constants.h"

#include <cstring>

#include "base/check.h"

namespace attune::graph {
namespace {

std::int64_t product(const std::vector<std::int64_t>& shape, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t i = begin; i < end; ++i) count *= shape[i];
  return count;
}

// Copies a box of elements of `width` bytes whose rows lie `strides` bytes apart, in the order of
// `shape`, to where `to` points; advances it.
void gather_box(const std::byte* from, const std::vector<std::int64_t>& shape,
                const std::vector<std::int64_t>& strides, std::size_t dimension, std::int64_t width,
                std::byte*& to) {
  if (dimension == shape.size()) {
    std::memcpy(to, from, static_cast<std::size_t>(width));
    to += width;
    return;
  }
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    gather_box(from + i * strides[dimension], shape, strides, dimension + 1, width, to);
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
  std::vector<std::int64_t> extents, strides;
  for (const std::int64_t axis : perm) {
    const auto from = static_cast<std::size_t>(axis);
    extents.push_back(shape[from]);
    strides.push_back(width * product(shape, from + 1, shape.size()));
  }
  ir::Array array(constant.type.dtype, extents);
  std::byte* to = array.data.data();
  gather_box(constant.bytes.data(), extents, strides, 0, width, to);
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
