#include "tuner/measure/probe/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/speed/fma_loop.h"

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

// The first cache of a level that holds data, by the files of the kernel; empty where there is
// none.
std::string cache_folder(int level, int core, const std::string& processors) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        processors + "/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index) + "/";
    const std::string found = first_line(folder + "level");
    if (found.empty()) return {};
    if (found == std::to_string(level) && first_line(folder + "type") != "Instruction") {
      return folder;
    }
  }
  return {};
}

std::int64_t system_value(int name) { return std::max(0l, sysconf(name)); }

std::int64_t cache_bytes(int level, int core, int name) {
  const std::string folder = cache_folder(level, core, kProcessors);
  const std::int64_t bytes = folder.empty() ? 0 : parse_cache_size(first_line(folder + "size"));
  return bytes > 0 ? bytes : system_value(name);
}

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

int count_processors(const std::string& list) {
  std::istringstream text(list);
  int count = 0, first = 0, last = 0;
  for (char mark = ','; mark == ','; count += last - first + 1) {
    if (!(text >> first)) return 0;
    last = first;
    if (text.peek() == '-' && !(text >> mark >> last)) return 0;
    if (first < 0 || last < first) return 0;
    if (!(text >> mark)) mark = 0;
  }
  return count;
}

int count_caches(int level, const std::vector<int>& cores, const std::string& processors) {
  std::set<std::string> shared_by;
  for (const int core : cores) {
    const std::string folder = cache_folder(level, core, processors);
    if (!folder.empty()) shared_by.insert(first_line(folder + "shared_cpu_list"));
  }
  return std::max(1, static_cast<int>(shared_by.size()));
}

MachineFacts describe_machine() {
  MachineFacts facts;
  facts.cpu = cpu_name();
  facts.cores = runtime::allowed_cores();
  facts.processors = count_processors(first_line(std::string(kProcessors) + "/online"));
  if (facts.processors == 0)
    facts.processors = static_cast<int>(system_value(_SC_NPROCESSORS_ONLN));
  facts.l1_data_bytes = cache_bytes(1, facts.cores.front(), _SC_LEVEL1_DCACHE_SIZE);
  facts.l2_bytes = cache_bytes(2, facts.cores.front(), _SC_LEVEL2_CACHE_SIZE);
  facts.l3_bytes = cache_bytes(3, facts.cores.front(), _SC_LEVEL3_CACHE_SIZE);
  facts.memory_bytes = system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE);
  for (const FmaLoop& loop : fma_loops()) facts.vector_units.emplace_back(loop.name);
  return facts;
}

}  // namespace attune::probe
