#include "compiler/ir/nodes/array.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace attune::ir {
namespace {

// Rounds to a binary format with `digits` bits after the leading one and a least normal exponent.
double round_binary(double value, int digits, int least_exponent, double greatest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), least_exponent);
  const double quantum = std::ldexp(1.0, exponent - digits);
  const double rounded = std::nearbyint(value / quantum) * quantum;
  if (std::abs(rounded) <= greatest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

constexpr double kGreatestF16 = 65504.0;
const double kGreatestBF16 = std::ldexp(255.0, 120);

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

Array::Array(DType element_type, std::vector<std::int64_t> extents)
    : type(element_type), shape(std::move(extents)) {
  data.resize(static_cast<std::size_t>(count() * type.element_bytes()));
}

std::int64_t Array::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

double Array::real(std::int64_t position) const {
  const std::byte* at = data.data() + position * type.element_bytes();
  if (type == kF32) return read<float>(at);
  if (type == kF64) return read<double>(at);
  if (type == kF16) return f16_value(read<std::uint16_t>(at));
  if (type == kBF16) return bf16_value(read<std::uint16_t>(at));
  if (type == kU64) return static_cast<double>(read<std::uint64_t>(at));
  return static_cast<double>(integer(position));
}

std::int64_t Array::integer(std::int64_t position) const {
  const std::byte* at = data.data() + position * type.element_bytes();
  if (type.is_float()) return truncate_to(kI64, real(position));
  switch (type.element_bytes()) {
    case 1:
      return wrap_to(type, read<std::int8_t>(at));
    case 2:
      return wrap_to(type, read<std::int16_t>(at));
    case 4:
      return wrap_to(type, read<std::int32_t>(at));
    default:
      return read<std::int64_t>(at);
  }
}

void Array::set_real(std::int64_t position, double value) {
  std::byte* at = data.data() + position * type.element_bytes();
  if (type == kF32) return write(at, static_cast<float>(value));
  if (type == kF64) return write(at, value);
  if (type == kF16) return write(at, f16_bits(value));
  if (type == kBF16) return write(at, bf16_bits(value));
  set_int(position, truncate_to(type, value));
}

void Array::set_int(std::int64_t position, std::int64_t value) {
  if (type.is_float()) return set_real(position, static_cast<double>(value));
  std::byte* at = data.data() + position * type.element_bytes();
  const std::int64_t wrapped = wrap_to(type, value);
  switch (type.element_bytes()) {
    case 1:
      return write(at, static_cast<std::uint8_t>(wrapped));
    case 2:
      return write(at, static_cast<std::uint16_t>(wrapped));
    case 4:
      return write(at, static_cast<std::uint32_t>(wrapped));
    default:
      return write(at, wrapped);
  }
}

std::uint16_t f16_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double rounded = std::abs(round_to(kF16, value));
  if (rounded == 0) return sign;
  if (std::isinf(rounded)) return sign | 0x7c00;
  const int exponent = std::ilogb(rounded);
  if (exponent < -14) return sign | static_cast<std::uint16_t>(std::ldexp(rounded, 24));
  const int fraction = static_cast<int>(std::ldexp(rounded, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + 15) << 10) | fraction);
}

double f16_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else {
    value = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  }
  return bits & 0x8000 ? -value : value;
}

std::uint16_t bf16_bits(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(round_to(kBF16, value)));
  return static_cast<std::uint16_t>(bits >> 16);
}

double bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double round_to(DType type, double value) {
  if (type.kind == TypeKind::BFloat) return round_binary(value, 7, -126, kGreatestBF16);
  if (type.bits == 16) return round_binary(value, 10, -14, kGreatestF16);
  return type.bits == 32 ? static_cast<float>(value) : value;
}

std::int64_t wrap_to(DType type, std::int64_t value) {
  if (type.is_bool()) return value != 0;
  if (type.bits >= 64) return value;
  const int unused = 64 - type.bits;
  const auto shifted = static_cast<std::uint64_t>(value) << unused;
  return type.kind == TypeKind::UInt ? static_cast<std::int64_t>(shifted >> unused)
                                     : static_cast<std::int64_t>(shifted) >> unused;
}

std::int64_t truncate_to(DType type, double value) {
  if (type.is_bool()) return value != 0;
  if (std::isnan(value)) return 0;
  const bool is_signed = type.kind == TypeKind::Int;
  const double limit = std::ldexp(1.0, is_signed ? type.bits - 1 : type.bits);
  const std::int64_t greatest =
      type.bits >= 64 ? std::numeric_limits<std::int64_t>::max()
                      : (std::int64_t{1} << (is_signed ? type.bits - 1 : type.bits)) - 1;
  if (type == kU64) {  // by its bits
    if (value >= limit) return -1;
    return value <= 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
  }
  if (value >= limit) return greatest;
  if (!is_signed) return value <= 0 ? 0 : static_cast<std::int64_t>(value);
  return value <= -limit ? -greatest - 1 : static_cast<std::int64_t>(value);
}

}  // namespace attune::ir
