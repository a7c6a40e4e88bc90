// Loops that do nothing but read memory, with the widest vectors this machine has: what the load
// units and the levels of memory can deliver at most.
#pragma once

#include <cstdint>

namespace attune::probe {

// Reads `bytes`, a multiple of 512, at an address of 64 bytes' alignment.
using ReadLoop = void (*)(const char* data, std::int64_t bytes);

// One vector after the other.
ReadLoop vector_reads();
// As many instructions as vectors, each of which fills a vector with one element of f32.
ReadLoop broadcast_reads();
// Bytes of the vectors of both.
std::int64_t read_vector_bytes();

}  // namespace attune::probe
