#include "tuner/measure/probe/speed/memory_parts.h"

#include <algorithm>

namespace attune::probe {

MemoryPart l2_part(const CacheSizes& caches, int cores) {
  return {std::max(2 * caches.l1_bytes, caches.l2_bytes / 2), cores};
}

MemoryPart l3_part(const CacheSizes& caches, int cores) {
  const std::int64_t half = caches.l3_bytes / 2;
  const std::int64_t least = std::max<std::int64_t>(1, 2 * caches.l2_bytes);
  const std::int64_t fitting = std::clamp<std::int64_t>(half / least, 1, cores);
  return {std::clamp(half / fitting, least, 2 * least), static_cast<int>(fitting)};
}

MemoryPart far_part(const CacheSizes& caches, int cores, std::int64_t most_bytes) {
  constexpr std::int64_t kLeast = std::int64_t{128} << 20;
  const std::int64_t beyond =
      std::max({kLeast, 2 * caches.l3_bytes, 4 * caches.l2_bytes * std::int64_t{cores}});
  return {std::min(beyond, most_bytes) / cores, cores};
}

}  // namespace attune::probe
