#include "runtime/host/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace attune::runtime::host {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Flag {
  std::uint8_t bits;
};

template <typename T>
double to_real(T value) {
  return static_cast<double>(value);
}
double to_real(Half value) { return static_cast<double>(float_from_half(value.bits)); }
double to_real(Brain value) { return static_cast<double>(float_from_bfloat16(value.bits)); }
double to_real(Flag value) { return value.bits != 0 ? 1.0 : 0.0; }

template <typename T>
std::int64_t to_integer(T value) {
  return static_cast<std::int64_t>(value);
}
std::int64_t to_integer(double value) {
  constexpr double kLimit = 0x1.0p63;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kLimit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}
std::int64_t to_integer(float value) { return to_integer(static_cast<double>(value)); }
std::int64_t to_integer(Half value) { return to_integer(to_real(value)); }
std::int64_t to_integer(Brain value) { return to_integer(to_real(value)); }
std::int64_t to_integer(Flag value) { return value.bits != 0 ? 1 : 0; }

// Truncated to the range of T.
template <typename T>
void from_real(double value, T& to) {
  constexpr auto kLow = std::numeric_limits<T>::min();
  constexpr auto kHigh = std::numeric_limits<T>::max();
  if (std::isnan(value)) {
    to = 0;
  } else if (value <= static_cast<double>(kLow)) {
    to = kLow;
  } else if (value >= static_cast<double>(kHigh)) {
    to = kHigh;
  } else {
    to = static_cast<T>(value);
  }
}
void from_real(double value, float& to) { to = static_cast<float>(value); }
void from_real(double value, double& to) { to = value; }
void from_real(double value, Half& to) { to.bits = half_from_float(round_to_odd(value)); }
void from_real(double value, Brain& to) { to.bits = bfloat16_from_float(round_to_odd(value)); }
void from_real(double value, Flag& to) { to.bits = value != 0.0 ? 1 : 0; }

template <bool is_unsigned, typename T>
void from_integer(std::int64_t value, T& to) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    to = is_unsigned ? static_cast<T>(static_cast<std::uint64_t>(value)) : static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) {
    from_real(is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(value))
                          : static_cast<double>(value),
              to);
  } else if constexpr (std::is_same_v<T, Flag>) {
    to.bits = value != 0 ? 1 : 0;
  } else {
    to = static_cast<T>(value);
  }
}

// Calls visit with a null pointer of the element's type.
template <typename Visit>
void with_type(DType type, Visit visit) {
  switch (type) {
    case DType::F32:
      return visit(static_cast<float*>(nullptr));
    case DType::F16:
      return visit(static_cast<Half*>(nullptr));
    case DType::BF16:
      return visit(static_cast<Brain*>(nullptr));
    case DType::I8:
      return visit(static_cast<std::int8_t*>(nullptr));
    case DType::U8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case DType::I32:
      return visit(static_cast<std::int32_t*>(nullptr));
    case DType::I64:
      return visit(static_cast<std::int64_t*>(nullptr));
    case DType::Bool:
      return visit(static_cast<Flag*>(nullptr));
    case DType::F64:
      return visit(static_cast<double*>(nullptr));
    case DType::I16:
      return visit(static_cast<std::int16_t*>(nullptr));
    case DType::U16:
      return visit(static_cast<std::uint16_t*>(nullptr));
    case DType::U32:
      return visit(static_cast<std::uint32_t*>(nullptr));
    case DType::U64:
      return visit(static_cast<std::uint64_t*>(nullptr));
  }
  CHECK(false, "unknown element type");
}

}  // namespace

Domain domain_of(DType type) {
  if (is_float(type)) return Domain::Real;
  return type == DType::U64 ? Domain::Unsigned : Domain::Signed;
}

float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  // Towards zero, then the last bit says that something was cut off.
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

void load_reals(double* to, const HostTensor& from, std::int64_t start, std::int64_t step,
                std::int64_t count) {
  with_type(from.type, [&]<typename T>(T*) {
    const T* at = static_cast<const T*>(from.data) + start;
    for (std::int64_t i = 0; i < count; ++i) to[i] = to_real(at[i * step]);
  });
}

void load_integers(std::int64_t* to, const HostTensor& from, std::int64_t start, std::int64_t step,
                   std::int64_t count) {
  with_type(from.type, [&]<typename T>(T*) {
    const T* at = static_cast<const T*>(from.data) + start;
    for (std::int64_t i = 0; i < count; ++i) to[i] = to_integer(at[i * step]);
  });
}

void store_reals(const HostTensor& to, std::int64_t start, const double* from, std::int64_t count) {
  with_type(to.type, [&]<typename T>(T*) {
    T* at = static_cast<T*>(to.data) + start;
    for (std::int64_t i = 0; i < count; ++i) from_real(from[i], at[i]);
  });
}

void store_integers(const HostTensor& to, std::int64_t start, const std::int64_t* from,
                    std::int64_t count, bool is_unsigned) {
  with_type(to.type, [&]<typename T>(T*) {
    T* at = static_cast<T*>(to.data) + start;
    if (is_unsigned) {
      for (std::int64_t i = 0; i < count; ++i) from_integer<true>(from[i], at[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) from_integer<false>(from[i], at[i]);
    }
  });
}

void load_order_keys(std::int64_t* to, const HostTensor& from, std::int64_t start,
                     std::int64_t step, std::int64_t count) {
  constexpr auto kSign = std::numeric_limits<std::int64_t>::min();
  if (domain_of(from.type) != Domain::Real) {
    load_integers(to, from, start, step, count);
    if (from.type != DType::U64) return;
    for (std::int64_t i = 0; i < count; ++i) to[i] ^= kSign;
    return;
  }
  double block[kBlock];
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t now = std::min(kBlock, count - done);
    load_reals(block, from, start + done * step, step, now);
    for (std::int64_t i = 0; i < now; ++i) {
      const auto bits = std::bit_cast<std::int64_t>(block[i] + 0.0);
      // Negative floats grow towards zero as their bits shrink.
      to[done + i] = bits < 0 ? kSign - bits : bits;
      if (std::isnan(block[i])) to[done + i] = std::numeric_limits<std::int64_t>::max();
    }
  }
}

double real_at(const HostTensor& tensor, std::int64_t index) {
  double value = 0.0;
  load_reals(&value, tensor, index, 1, 1);
  return value;
}

std::int64_t integer_at(const HostTensor& tensor, std::int64_t index) {
  std::int64_t value = 0;
  load_integers(&value, tensor, index, 1, 1);
  return value;
}

}  // namespace attune::runtime::host
