// Between plain [n, c, h, w] tensors and blocked activations [n, ceil(c / B), h, w, B], for the
// commands that read and write tensors as people know them. Lanes beyond the last channel are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attune::ops {

// [n, c / B, h, w, B] as [n, channels, h, w].
std::vector<std::int64_t> plain_shape(std::span<const std::int64_t> blocked, std::int64_t channels);

// `blocked` is the five-dimensional shape; the buffers hold elements of `element_bytes`.
void pack_channels(std::span<const std::int64_t> blocked, std::int64_t channels,
                   std::size_t element_bytes, std::span<const std::byte> plain,
                   std::span<std::byte> packed);
void unpack_channels(std::span<const std::int64_t> blocked, std::int64_t channels,
                     std::size_t element_bytes, std::span<const std::byte> packed,
                     std::span<std::byte> plain);

}  // namespace attune::ops
