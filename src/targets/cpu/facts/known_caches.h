// Cache sizes of processors that are compiled for from another machine, by LLVM's CPU names. A name
// stands for a core design; where makers of chips choose sizes, these are of common ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace attune::cpu {

struct CacheSizes {
  std::int64_t l1_bytes = 0;  // of data
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;  // as large as the second level where there is no third
};

// `architecture` as a triple begins; nothing where the processor is not in the table.
std::optional<CacheSizes> known_caches(std::string_view architecture, std::string_view cpu);
// The names in the table.
std::vector<std::string_view> known_cpus(std::string_view architecture);

}  // namespace attune::cpu
