// Loops that do nothing but read or write memory, with the widest vectors this machine has: what
// the load and store units and the levels of memory do at most.
#pragma once

#include <cstdint>

namespace attune::probe {

inline constexpr std::int64_t kRoundBytes = 1024;

// Goes over `bytes`, a multiple of kRoundBytes at an address of 64 bytes' alignment, one round
// after the other, `rounds` in all; after the last comes the first.
using MemoryLoop = void (*)(char* data, std::int64_t bytes, std::int64_t rounds);

// One vector after the other.
MemoryLoop vector_reads();
// As many instructions as vectors, each of which fills a vector with one element of f32.
MemoryLoop broadcast_reads();
MemoryLoop vector_writes();
// Bytes of the vectors of all.
std::int64_t memory_vector_bytes();

}  // namespace attune::probe
