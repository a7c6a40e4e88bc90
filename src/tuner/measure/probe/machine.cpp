#include "tuner/measure/probe/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/fma_loop.h"

namespace attune::probe {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Caches of one core, by the files of the kernel.
void read_caches(int core, MachineFacts& facts) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index";
  for (int index = 0; index < 8; ++index) {
    const std::string entry = folder + std::to_string(index) + "/";
    const std::string level = first_line(entry + "level");
    if (level.empty()) return;
    if (first_line(entry + "type") == "Instruction") continue;
    const std::int64_t bytes = parse_cache_size(first_line(entry + "size"));
    if (level == "1") facts.l1_data_bytes = bytes;
    if (level == "2") facts.l2_bytes = bytes;
    if (level == "3") facts.l3_bytes = bytes;
  }
}

std::int64_t system_value(int name) { return std::max(0l, sysconf(name)); }

}  // namespace

std::int64_t parse_cache_size(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  const std::string unit = end;
  if (number <= 0 || end == text.c_str()) return 0;
  if (unit.empty()) return number;
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  if (unit == "G") return number << 30;
  return 0;
}

MachineFacts describe_machine() {
  MachineFacts facts;
  facts.cpu = cpu_name();
  facts.cores = runtime::allowed_cores();
  read_caches(facts.cores.front(), facts);
  if (facts.l1_data_bytes == 0) facts.l1_data_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE);
  if (facts.l2_bytes == 0) facts.l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE);
  if (facts.l3_bytes == 0) facts.l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE);
  facts.memory_bytes = system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE);
  for (const FmaLoop& loop : fma_loops()) facts.vector_units.emplace_back(loop.name);
  return facts;
}

}  // namespace attune::probe
