#include "runtime/memory/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace attune::runtime {
namespace {

struct TypeFacts {
  DType type;
  std::string_view name;
  std::size_t bytes;
  bool floating;
};

constexpr std::array<TypeFacts, kDTypeCount> kTypes = {{
    {DType::F32, "f32", 4, true},
    {DType::F16, "f16", 2, true},
    {DType::BF16, "bf16", 2, true},
    {DType::I8, "i8", 1, false},
    {DType::U8, "u8", 1, false},
    {DType::I32, "i32", 4, false},
    {DType::I64, "i64", 8, false},
    {DType::Bool, "bool", 1, false},
    {DType::F64, "f64", 8, true},
    {DType::I16, "i16", 2, false},
    {DType::U16, "u16", 2, false},
    {DType::U32, "u32", 4, false},
    {DType::U64, "u64", 8, false},
}};

const TypeFacts& facts_of(DType type) {
  const auto index = static_cast<std::size_t>(type);
  CHECK(index < kTypes.size(), "unknown element type");
  return kTypes[index];
}

template <typename T>
T load(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T>
void store(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), &value,
              sizeof(T));
}

}  // namespace

std::size_t byte_size(DType type) { return facts_of(type).bytes; }
std::string_view name_of(DType type) { return facts_of(type).name; }
bool is_float(DType type) { return facts_of(type).floating; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.name == name) return facts.type;
  }
  return std::nullopt;
}

std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // to infinity
  if (magnitude < 0x38800000u) {  // subnormal or zero: let float addition do the rounding
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + odd;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float float_from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

std::uint16_t bfloat16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float float_from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double read_element(const void* data, DType type, std::int64_t index) {
  switch (type) {
    case DType::F32:
      return static_cast<double>(load<float>(data, index));
    case DType::F16:
      return static_cast<double>(float_from_half(load<std::uint16_t>(data, index)));
    case DType::BF16:
      return static_cast<double>(float_from_bfloat16(load<std::uint16_t>(data, index)));
    case DType::I8:
      return load<std::int8_t>(data, index);
    case DType::U8:
      return load<std::uint8_t>(data, index);
    case DType::I32:
      return load<std::int32_t>(data, index);
    case DType::I64:
      return static_cast<double>(load<std::int64_t>(data, index));
    case DType::Bool:
      return load<std::uint8_t>(data, index) != 0 ? 1.0 : 0.0;
    case DType::F64:
      return load<double>(data, index);
    case DType::I16:
      return load<std::int16_t>(data, index);
    case DType::U16:
      return load<std::uint16_t>(data, index);
    case DType::U32:
      return load<std::uint32_t>(data, index);
    case DType::U64:
      return static_cast<double>(load<std::uint64_t>(data, index));
  }
  CHECK(false, "unknown element type");
}

void write_element(void* data, DType type, std::int64_t index, double value) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case DType::F32:
      return store(data, index, narrow);
    case DType::F16:
      return store(data, index, half_from_float(narrow));
    case DType::BF16:
      return store(data, index, bfloat16_from_float(narrow));
    case DType::I8:
      return store(data, index, static_cast<std::int8_t>(value));
    case DType::U8:
      return store(data, index, static_cast<std::uint8_t>(value));
    case DType::I32:
      return store(data, index, static_cast<std::int32_t>(value));
    case DType::I64:
      return store(data, index, static_cast<std::int64_t>(value));
    case DType::Bool:
      return store(data, index, static_cast<std::uint8_t>(value != 0.0));
    case DType::F64:
      return store(data, index, value);
    case DType::I16:
      return store(data, index, static_cast<std::int16_t>(value));
    case DType::U16:
      return store(data, index, static_cast<std::uint16_t>(value));
    case DType::U32:
      return store(data, index, static_cast<std::uint32_t>(value));
    case DType::U64:
      return store(data, index, static_cast<std::uint64_t>(value));
  }
  CHECK(false, "unknown element type");
}

}  // namespace attune::runtime
