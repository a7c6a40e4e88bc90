#include "tuner/measure/probe/speed/disturbance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace attune::probe {

// Lines are "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STOLEN ...", after one of all cores.
long long stolen_ticks(std::string_view stat, const std::vector<int>& cores) {
  constexpr int kStolen = 8;
  long long all = 0;
  for (const int core : cores) {
    const std::string name = "\ncpu" + std::to_string(core) + " ";
    const std::size_t found = stat.find(name);
    if (found == stat.npos) continue;
    const std::string_view rest = stat.substr(found + name.size());
    std::istringstream line{std::string(rest.substr(0, rest.find('\n')))};
    long long ticks = 0;
    int field = 0;
    while (field < kStolen && line >> ticks) ++field;
    if (field == kStolen) all += ticks;
  }
  return all;
}

Disturbance disturbance_so_far(const std::vector<int>& cores) {
  rusage usage{};
  Disturbance sum;
  if (::getrusage(RUSAGE_SELF, &usage) == 0) sum.preemptions = static_cast<double>(usage.ru_nivcsw);
  std::ifstream file("/proc/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const double ticks_in_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  sum.stolen_seconds = static_cast<double>(stolen_ticks(stat, cores)) / ticks_in_second;
  return sum;
}

}  // namespace attune::probe
