// A fast 64-bit checksum for stored data: it finds damage, not forgery. Any change within one
// aligned 8-byte word, hence any flipped bit, is certain to change it; other changes escape with a
// chance of about 2^-64. Several bytes per clock cycle, on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attune::runtime {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed);

}  // namespace attune::runtime
