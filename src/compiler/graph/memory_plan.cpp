#include "compiler/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace attune::graph {

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size(), 0);
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t current : order) {
    const Lifetime& lifetime = lifetimes[current];
    const std::int64_t bytes = (lifetime.bytes + alignment - 1) / alignment * alignment;
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {
      const Lifetime& neighbour = lifetimes[other];
      if (neighbour.last < lifetime.first || lifetime.last < neighbour.first) continue;
      if (offset + bytes <= plan.offsets[other]) break;
      const std::int64_t end =
          plan.offsets[other] + (neighbour.bytes + alignment - 1) / alignment * alignment;
      offset = std::max(offset, end);
    }
    plan.offsets[current] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    const auto place = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](std::int64_t value, std::size_t other) { return value < plan.offsets[other]; });
    placed.insert(place, current);
  }
  return plan;
}

}  // namespace attune::graph
