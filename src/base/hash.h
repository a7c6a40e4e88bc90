// Stable 64-bit hashes: the same bytes give the same number on every platform and in every version,
// so that hashes may be stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

// FNV-1a with a final mix; `seed` chains several pieces.
constexpr std::uint64_t hash_bytes(std::string_view bytes,
                                   std::uint64_t seed = 0xcbf29ce484222325ull) {
  std::uint64_t h = seed;
  for (char c : bytes) {
    h ^= static_cast<unsigned char>(c);
    h *= 0x100000001b3ull;
  }
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  return h;
}

constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2));
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 33);
}

// Sixteen lower-case hexadecimal digits.
inline std::string hex64(std::uint64_t value) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[static_cast<std::size_t>(i)] = digits[value & 15];
  return text;
}

}  // namespace attune
