#include "targets/cpu/facts/known_machines.h"

namespace attune::cpu {
namespace {

struct Entry {
  std::string_view architecture;
  std::string_view cpu;
  double ghz;
  double issue, window;      // instructions: begun in a cycle, and seen ahead
  double fmas, fma_bytes;    // in a cycle
  double latency;            // cycles of a multiply-add
  double loads, load_bytes;  // in a cycle
  double l2, l3, dram;       // bytes in a cycle
};

// Rates as the makers' optimisation manuals have them; bandwidths as they are usually measured.
constexpr Entry kTable[] = {
    {"x86_64", "haswell", 3.0, 4, 192, 2, 64, 5, 2, 64, 25, 12, 4},
    {"x86_64", "broadwell", 3.0, 4, 192, 2, 64, 5, 2, 64, 25, 12, 4},
    {"x86_64", "skylake", 3.5, 4, 224, 2, 64, 4, 2, 64, 30, 14, 5},
    {"x86_64", "skylake-avx512", 2.8, 4, 224, 2, 128, 4, 2, 128, 40, 8, 4},
    {"x86_64", "cascadelake", 2.8, 4, 224, 2, 128, 4, 2, 128, 40, 8, 4},
    {"x86_64", "icelake-server", 2.9, 5, 352, 2, 128, 4, 2, 128, 40, 8, 4},
    {"x86_64", "sapphirerapids", 2.8, 6, 512, 2, 128, 4, 2, 128, 40, 9, 5},
    {"x86_64", "emeraldrapids", 2.8, 6, 512, 2, 128, 4, 2, 128, 40, 9, 5},
    {"x86_64", "graniterapids", 2.8, 6, 512, 2, 128, 4, 2, 128, 40, 9, 5},
    {"x86_64", "alderlake", 4.0, 6, 512, 2, 64, 4, 3, 96, 40, 16, 8},
    {"x86_64", "znver1", 3.0, 5, 192, 1, 32, 5, 2, 32, 25, 16, 6},
    {"x86_64", "znver2", 3.2, 5, 224, 2, 64, 5, 2, 64, 30, 18, 6},
    {"x86_64", "znver3", 3.3, 6, 256, 2, 64, 4, 2, 64, 32, 20, 7},
    {"x86_64", "znver4", 3.3, 6, 320, 2, 64, 4, 2, 64, 32, 20, 10},
    {"x86_64", "znver5", 3.6, 8, 448, 2, 128, 4, 2, 128, 50, 20, 10},
    {"aarch64", "generic", 2.0, 4, 128, 2, 32, 4, 2, 32, 14, 8, 4},
    {"aarch64", "cortex-a53", 1.4, 2, 0, 1, 8, 8, 1, 8, 8, 8, 2},
    {"aarch64", "cortex-a55", 1.8, 2, 0, 1, 8, 4, 1, 8, 8, 5, 3},
    {"aarch64", "cortex-a57", 1.4, 3, 128, 1, 16, 9, 1, 16, 8, 8, 4},
    {"aarch64", "cortex-a72", 1.8, 3, 128, 1, 16, 7, 1, 16, 8, 8, 3},
    {"aarch64", "cortex-a76", 2.4, 4, 128, 2, 32, 4, 2, 32, 16, 8, 5},
    {"aarch64", "neoverse-n1", 2.8, 4, 128, 2, 32, 4, 2, 32, 16, 8, 5},
    {"aarch64", "neoverse-n2", 3.0, 5, 160, 2, 32, 4, 3, 48, 20, 8, 6},
    {"aarch64", "neoverse-v1", 2.6, 8, 256, 4, 64, 4, 3, 48, 24, 10, 6},
    {"aarch64", "neoverse-v2", 2.8, 8, 320, 4, 64, 4, 3, 48, 24, 10, 8},
    {"aarch64", "apple-m1", 3.2, 8, 630, 4, 64, 4, 3, 48, 30, 30, 18},
};

// "generic" is the usual core of its architecture.
const Entry* find(std::string_view architecture, std::string_view cpu) {
  for (const Entry& entry : kTable) {
    if (entry.architecture == architecture && entry.cpu == cpu) return &entry;
  }
  return nullptr;
}

}  // namespace

target::Machine known_machine(std::string_view architecture, std::string_view cpu) {
  target::Machine machine;
  const Entry* entry = find(architecture, cpu);
  if (entry == nullptr) entry = find(architecture, "generic");
  if (entry == nullptr) return machine;
  machine.ghz = entry->ghz;
  machine.issue_per_cycle = entry->issue;
  machine.reorder_window = entry->window;
  machine.fmas_per_cycle = entry->fmas;
  machine.fma_bytes_per_cycle = entry->fma_bytes;
  machine.fma_latency = entry->latency;
  machine.loads_per_cycle = entry->loads;
  machine.load_bytes_per_cycle = entry->load_bytes;
  machine.store_bytes_per_cycle = entry->load_bytes / 2;
  machine.l2_bandwidth = entry->l2;
  machine.l3_bandwidth = entry->l3;
  machine.dram_bandwidth = entry->dram;
  return machine;
}

}  // namespace attune::cpu
