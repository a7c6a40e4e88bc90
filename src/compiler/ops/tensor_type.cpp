#include "compiler/ops/tensor_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace attune::ops {
namespace {

template <typename T>
T read_as(const Constant& constant, std::int64_t position) {
  T value;
  std::memcpy(&value, constant.bytes.data() + position * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

// Calls `use` with the element in its own C++ type; f16 and bf16 as double.
template <typename Use>
auto with_element(const Constant& constant, std::int64_t position, Use use) {
  CHECK(position >= 0 && position < constant.type.elements(), "no such element of a constant");
  const ir::DType type = constant.type.dtype;
  if (type == ir::kBF16) return use(ir::bf16_value(read_as<std::uint16_t>(constant, position)));
  if (type == ir::kF16) return use(ir::f16_value(read_as<std::uint16_t>(constant, position)));
  if (type == ir::kF32) return use(read_as<float>(constant, position));
  if (type == ir::kF64) return use(read_as<double>(constant, position));
  const bool is_signed = type.kind == ir::TypeKind::Int;
  switch (type.element_bytes()) {
    case 1:
      return is_signed ? use(read_as<std::int8_t>(constant, position))
                       : use(read_as<std::uint8_t>(constant, position));
    case 2:
      return is_signed ? use(read_as<std::int16_t>(constant, position))
                       : use(read_as<std::uint16_t>(constant, position));
    case 4:
      return is_signed ? use(read_as<std::int32_t>(constant, position))
                       : use(read_as<std::uint32_t>(constant, position));
    default:
      return is_signed ? use(read_as<std::int64_t>(constant, position))
                       : use(read_as<std::uint64_t>(constant, position));
  }
}

}  // namespace

bool TensorType::is_static() const {
  return std::all_of(extents.begin(), extents.end(),
                     [](int extent) { return extent == kConstantExtent; });
}

std::int64_t TensorType::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const TensorType& type) {
  std::string text = ir::to_string(type.dtype) + "[";
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const bool dynamic = !type.extents.empty() && type.extents[i] != kConstantExtent;
    text += fmt::format("{}{}{}", i == 0 ? "" : ",", dynamic ? "<=" : "", type.shape[i]);
  }
  return text + "]";
}

double Constant::real(std::int64_t position) const {
  return with_element(*this, position, [](auto value) { return static_cast<double>(value); });
}

std::int64_t Constant::integer(std::int64_t position) const {
  return with_element(*this, position, [](auto value) { return static_cast<std::int64_t>(value); });
}

ConstantPtr make_constant(ir::Array array) {
  auto owned = std::make_shared<const ir::Array>(std::move(array));
  return std::make_shared<const Constant>(
      Constant{{owned->type, owned->shape, {}}, std::span(owned->data), owned});
}

ConstantPtr make_constant(const std::vector<std::int64_t>& values) {
  ir::Array array(ir::kI64, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    array.set_int(static_cast<std::int64_t>(i), values[i]);
  }
  return make_constant(std::move(array));
}

ConstantPtr filled_constant(const TensorType& type, double value) {
  ir::Array array(type.dtype, type.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    if (type.dtype.is_float()) {
      array.set_real(i, value);
    } else {
      array.set_int(i, static_cast<std::int64_t>(value));
    }
  }
  return make_constant(std::move(array));
}

ConstantPtr scalar_constant(ir::DType type, double value) {
  return filled_constant({type, {}, {}}, value);
}

ConstantPtr converted(const Constant& constant, const TensorType& type) {
  if (constant.type.elements() != type.elements()) return nullptr;
  if (constant.type.dtype == type.dtype) {
    return std::make_shared<const Constant>(
        Constant{{type.dtype, type.shape, {}}, constant.bytes, constant.owner});
  }
  const auto is_integer = [](ir::DType dtype) { return dtype.is_int() || dtype.is_bool(); };
  if (!is_integer(constant.type.dtype) || !is_integer(type.dtype)) return nullptr;
  ir::Array array(type.dtype, type.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_int(i, constant.integer(i));
  return make_constant(std::move(array));
}

ir::Array to_array(const Constant& constant) {
  ir::Array array(constant.type.dtype, constant.type.shape);
  CHECK(array.data.size() == constant.bytes.size(), "a constant has as many bytes as its type");
  std::copy(constant.bytes.begin(), constant.bytes.end(), array.data.begin());
  return array;
}

std::vector<std::int64_t> integers(const Constant& constant) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) values.push_back(constant.integer(i));
  return values;
}

}  // namespace attune::ops
