// Eight lanes that each take every eighth word: lane = rotate(lane ^ word) * odd. Every step is a
// bijection of the lane for a fixed word and of the word for a fixed lane, and so is the final
// mixing of each lane into the sum; therefore a change within one word always shows.
#include "runtime/format/checksum.h"

#include <cstring>

namespace attune::runtime {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kStride = kLanes * sizeof(std::uint64_t);
constexpr std::uint64_t kMultiplier = 0x9fb21c651e98df25ull;
constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15ull;

std::uint64_t step(std::uint64_t lane, std::uint64_t word) {
  const std::uint64_t x = lane ^ word;
  return (x ^ (x >> 32)) * kMultiplier;
}

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t lanes[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = scramble(seed + kSpread * (i + 1));
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kStride; left -= kStride, at += kStride) {
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = step(lanes[i], word_at(at + 8 * i));
  }
  if (left > 0) {
    std::byte last[kStride] = {};
    std::memcpy(last, at, left);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = step(lanes[i], word_at(last + 8 * i));
  }
  std::uint64_t sum = scramble(seed ^ bytes.size());
  for (const std::uint64_t lane : lanes) sum = step(sum, scramble(lane));
  return scramble(sum);
}

}  // namespace attune::runtime
