// Deterministic buffer contents: the same seed and buffer number give the same elements in every
// process and on every machine, so that the compiler side can compute a reference for inputs that a
// measuring child makes for itself.
#pragma once

#include <cstdint>

#include "runtime/memory/dtype.h"

namespace attune::runtime {

// Floats are uniform in [-1, 1), signed integers in [-8, 7], unsigned in [0, 15], Bool 0 or 1.
// Element i depends only on (seed, buffer_index, type, i).
void fill(void* data, DType type, std::int64_t elements, std::uint64_t seed, int buffer_index);

}  // namespace attune::runtime
