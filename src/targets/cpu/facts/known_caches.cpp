#include "targets/cpu/facts/known_caches.h"

namespace attune::cpu {
namespace {

struct Entry {
  std::string_view architecture;
  std::string_view cpu;
  std::int64_t l1_kib;
  std::int64_t l2_kib;
  std::int64_t l3_kib;
};

// Of the second level, what one core uses alone, or the whole where a cluster shares it; of the
// third, what the cores of one complex share.
constexpr Entry kTable[] = {
    {"x86_64", "haswell", 32, 256, 8192},
    {"x86_64", "broadwell", 32, 256, 8192},
    {"x86_64", "skylake", 32, 256, 8192},
    {"x86_64", "skylake-avx512", 32, 1024, 25344},  // 18 cores
    {"x86_64", "cascadelake", 32, 1024, 25344},
    {"x86_64", "icelake-server", 48, 1280, 36864},  // 24 cores
    {"x86_64", "sapphirerapids", 48, 2048, 61440},  // 32 cores
    {"x86_64", "emeraldrapids", 48, 2048, 163840},  // 32 cores
    {"x86_64", "graniterapids", 48, 2048, 294912},  // 72 cores
    {"x86_64", "alderlake", 48, 1280, 30720},
    {"x86_64", "znver1", 32, 512, 8192},
    {"x86_64", "znver2", 32, 512, 16384},
    {"x86_64", "znver3", 32, 512, 32768},
    {"x86_64", "znver4", 32, 1024, 32768},
    {"x86_64", "znver5", 48, 1024, 32768},
    {"aarch64", "generic", 32, 512, 2048},
    {"aarch64", "cortex-a53", 32, 512, 512},  // Raspberry Pi 3
    {"aarch64", "cortex-a55", 32, 128, 1024},
    {"aarch64", "cortex-a57", 32, 2048, 2048},  // Jetson Nano
    {"aarch64", "cortex-a72", 32, 1024, 1024},  // Raspberry Pi 4
    {"aarch64", "cortex-a73", 64, 1024, 1024},
    {"aarch64", "cortex-a75", 64, 256, 2048},
    {"aarch64", "cortex-a76", 64, 512, 2048},  // Raspberry Pi 5
    {"aarch64", "cortex-a78", 64, 512, 4096},
    {"aarch64", "neoverse-n1", 64, 1024, 32768},  // Graviton 2, Ampere Altra
    {"aarch64", "neoverse-n2", 64, 1024, 32768},
    {"aarch64", "neoverse-v1", 64, 1024, 32768},  // Graviton 3
    {"aarch64", "neoverse-v2", 64, 2048, 36864},  // Graviton 4
    {"aarch64", "a64fx", 64, 8192, 8192},
    {"aarch64", "apple-m1", 128, 12288, 12288},
};

}  // namespace

std::optional<CacheSizes> known_caches(std::string_view architecture, std::string_view cpu) {
  for (const Entry& entry : kTable) {
    if (entry.architecture != architecture || entry.cpu != cpu) continue;
    return CacheSizes{entry.l1_kib << 10, entry.l2_kib << 10, entry.l3_kib << 10};
  }
  return std::nullopt;
}

std::vector<std::string_view> known_cpus(std::string_view architecture) {
  std::vector<std::string_view> names;
  for (const Entry& entry : kTable) {
    if (entry.architecture == architecture) names.push_back(entry.cpu);
  }
  return names;
}

}  // namespace attune::cpu
