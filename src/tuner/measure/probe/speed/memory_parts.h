// How much memory each core reads while one level of it is measured: too much for the levels before
// it, and no more than it holds.
#pragma once

#include <cstdint>

namespace attune::probe {

struct CacheSizes {
  std::int64_t l1_bytes = 0, l2_bytes = 0;  // of one core
  std::int64_t l3_bytes = 0;                // of all of them that the cores at hand have
};

struct MemoryPart {
  std::int64_t bytes = 0;  // of each core
  int cores = 1;           // that read at once
};

MemoryPart l2_part(const CacheSizes& caches, int cores);
// At least twice the second level, and half of the third in all: as many of the cores as that
// allows, where the third level is small.
MemoryPart l3_part(const CacheSizes& caches, int cores);
// Beyond all caches: twice the third level, and four times the second, in all; but at most so many
// bytes.
MemoryPart far_part(const CacheSizes& caches, int cores, std::int64_t most_bytes);

}  // namespace attune::probe
