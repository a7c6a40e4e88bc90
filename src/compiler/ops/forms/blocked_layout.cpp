#include "compiler/ops/forms/blocked_layout.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace attune::ops {
namespace {

std::size_t element_count(std::span<const std::int64_t> shape) {
  std::size_t count = 1;
  for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

// Calls move(plain element, blocked element) for every element of the plain tensor.
template <typename Move>
void for_each_element(std::span<const std::int64_t> blocked, std::int64_t channels,
                      const Move& move) {
  const auto n = static_cast<std::size_t>(blocked[0]);
  const auto blocks = static_cast<std::size_t>(blocked[1]);
  const auto pixels = static_cast<std::size_t>(blocked[2] * blocked[3]);
  const auto lanes = static_cast<std::size_t>(blocked[4]);
  const auto count = static_cast<std::size_t>(channels);
  for (std::size_t image = 0; image < n; ++image) {
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t block = (image * blocks + c / lanes) * pixels;
      for (std::size_t p = 0; p < pixels; ++p) {
        move((image * count + c) * pixels + p, (block + p) * lanes + c % lanes);
      }
    }
  }
}

void check_sizes_of(std::span<const std::int64_t> blocked, std::int64_t channels,
                    std::size_t element_bytes, std::size_t plain_bytes, std::size_t packed_bytes) {
  CHECK(blocked.size() == 5 && channels <= blocked[1] * blocked[4], "a blocked shape");
  CHECK(plain_bytes == element_count(plain_shape(blocked, channels)) * element_bytes,
        "the plain buffer has the size of its shape");
  CHECK(packed_bytes == element_count(blocked) * element_bytes,
        "the blocked buffer has the size of its shape");
}

}  // namespace

std::vector<std::int64_t> plain_shape(std::span<const std::int64_t> blocked,
                                      std::int64_t channels) {
  return {blocked[0], channels, blocked[2], blocked[3]};
}

void pack_channels(std::span<const std::int64_t> blocked, std::int64_t channels,
                   std::size_t element_bytes, std::span<const std::byte> plain,
                   std::span<std::byte> packed) {
  check_sizes_of(blocked, channels, element_bytes, plain.size(), packed.size());
  std::fill(packed.begin(), packed.end(), std::byte{0});
  for_each_element(blocked, channels, [&](std::size_t from, std::size_t to) {
    std::memcpy(&packed[to * element_bytes], &plain[from * element_bytes], element_bytes);
  });
}

void unpack_channels(std::span<const std::int64_t> blocked, std::int64_t channels,
                     std::size_t element_bytes, std::span<const std::byte> packed,
                     std::span<std::byte> plain) {
  check_sizes_of(blocked, channels, element_bytes, plain.size(), packed.size());
  for_each_element(blocked, channels, [&](std::size_t to, std::size_t from) {
    std::memcpy(&plain[to * element_bytes], &packed[from * element_bytes], element_bytes);
  });
}

}  // namespace attune::ops
