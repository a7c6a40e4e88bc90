// Static memory planning: buffers whose lifetimes do not meet share memory. Placement is greedy by
// size, each buffer at the lowest place where it fits (Pisarchyk and Lee, 2020).
#pragma once

#include <cstdint>
#include <vector>

namespace attune::graph {

// A buffer that is written at time `first` and last read at time `last`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // one per lifetime
  std::int64_t bytes = 0;             // of the whole arena
};

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment = 64);

}  // namespace attune::graph
