#include "runtime/memory/fill.h"

#include <cstddef>

#include "base/hash.h"

namespace attune::runtime {
namespace {

struct Key {
  std::uint32_t add;
  std::uint32_t flip;
};

// lowbias32 (C. Wellons, "Prospecting for Hash Functions", 2018): 32-bit, so it vectorises well.
[[gnu::always_inline]] inline std::uint32_t random_bits(Key key, std::int64_t index) {
  const auto wide = static_cast<std::uint64_t>(index);
  std::uint32_t x = static_cast<std::uint32_t>(wide) * 0x9e3779b1u + key.add +
                    static_cast<std::uint32_t>(wide >> 32) * 0x85ebca6bu;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x ^ key.flip;
}

// 24 significant bits, exact in f32.
[[gnu::always_inline]] inline float unit_float(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * 0x1.0p-23f;
}

[[gnu::always_inline]] inline void fill_floats_inline(float* data, std::int64_t elements, Key key) {
  for (std::int64_t i = 0; i < elements; ++i) data[i] = unit_float(random_bits(key, i));
}

void fill_floats_generic(float* data, std::int64_t elements, Key key) {
  fill_floats_inline(data, elements, key);
}

#if defined(__x86_64__)
[[gnu::target("avx2"), gnu::optimize("O3")]] void fill_floats_avx2(float* data,
                                                                   std::int64_t elements, Key key) {
  fill_floats_inline(data, elements, key);
}
#endif

void fill_floats(float* data, std::int64_t elements, Key key) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return fill_floats_avx2(data, elements, key);
#endif
  fill_floats_generic(data, elements, key);
}

template <typename T, typename Convert>
void fill_each(void* data, std::int64_t elements, Key key, Convert convert) {
  auto* typed = static_cast<T*>(data);
  for (std::int64_t i = 0; i < elements; ++i) typed[i] = convert(random_bits(key, i));
}

}  // namespace

void fill(void* data, DType type, std::int64_t elements, std::uint64_t seed, int buffer_index) {
  const std::uint64_t mixed = hash_combine(seed, static_cast<std::uint64_t>(buffer_index) + 1);
  const Key key{static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
  const auto small = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits >> 28) - 8; };
  switch (type) {
    case DType::F32:
      return fill_floats(static_cast<float*>(data), elements, key);
    case DType::F16:
      return fill_each<std::uint16_t>(
          data, elements, key, [](std::uint32_t b) { return half_from_float(unit_float(b)); });
    case DType::BF16:
      return fill_each<std::uint16_t>(
          data, elements, key, [](std::uint32_t b) { return bfloat16_from_float(unit_float(b)); });
    case DType::I8:
      return fill_each<std::int8_t>(
          data, elements, key, [&](std::uint32_t b) { return static_cast<std::int8_t>(small(b)); });
    case DType::U8:
      return fill_each<std::uint8_t>(
          data, elements, key, [](std::uint32_t b) { return static_cast<std::uint8_t>(b >> 28); });
    case DType::I32:
      return fill_each<std::int32_t>(data, elements, key, small);
    case DType::I64:
      return fill_each<std::int64_t>(data, elements, key,
                                     [&](std::uint32_t b) { return std::int64_t{small(b)}; });
    case DType::Bool:
      return fill_each<std::uint8_t>(
          data, elements, key, [](std::uint32_t b) { return static_cast<std::uint8_t>(b >> 31); });
    case DType::F64:
      return fill_each<double>(data, elements, key,
                               [](std::uint32_t b) { return double{unit_float(b)}; });
    case DType::I16:
      return fill_each<std::int16_t>(data, elements, key, [&](std::uint32_t b) {
        return static_cast<std::int16_t>(small(b));
      });
    case DType::U16:
      return fill_each<std::uint16_t>(
          data, elements, key, [](std::uint32_t b) { return static_cast<std::uint16_t>(b >> 28); });
    case DType::U32:
      return fill_each<std::uint32_t>(data, elements, key, [](std::uint32_t b) { return b >> 28; });
    case DType::U64:
      return fill_each<std::uint64_t>(data, elements, key,
                                      [](std::uint32_t b) { return std::uint64_t{b >> 28}; });
  }
}

}  // namespace attune::runtime
