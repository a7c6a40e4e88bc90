// Weights made of nothing but a seed: element i of a tensor is a function of the tensor's seed and
// i, so they are quick to make and the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace attune::zoo {

// Bytes of `count` floats, little endian, uniform in [low, low + width).
std::string uniform_floats(std::uint64_t seed, std::size_t count, float low, float width);

}  // namespace attune::zoo
