#include "compiler/frontend/zoo/weights.h"

#include <cstring>

namespace attune::zoo {
namespace {

// splitmix64 at place `counter` of the sequence that begins at `seed` (Steele, Lea and Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace

std::string uniform_floats(std::uint64_t seed, std::size_t count, float low, float width) {
  std::string bytes(count * sizeof(float), '\0');
  char* out = bytes.data();
  // 24 random bits times a float are exact in a double, so that it does not matter whether the
  // compiler fuses the product with the sum: the same floats everywhere.
  const double step = static_cast<double>(width) * 0x1p-24;
  const auto put = [&](std::uint32_t bits, std::size_t at) {
    const double scaled = static_cast<double>(static_cast<std::int32_t>(bits >> 8)) * step;
    const auto value = static_cast<float>(scaled + static_cast<double>(low));
    std::memcpy(out + at * sizeof(float), &value, sizeof value);
  };
  for (std::size_t pair = 0; pair < count / 2; ++pair) {
    const std::uint64_t bits = mixed(seed, pair);
    put(static_cast<std::uint32_t>(bits), 2 * pair);
    put(static_cast<std::uint32_t>(bits >> 32), 2 * pair + 1);
  }
  if (count % 2 == 1) put(static_cast<std::uint32_t>(mixed(seed, count / 2)), count - 1);
  return bytes;
}

}  // namespace attune::zoo
