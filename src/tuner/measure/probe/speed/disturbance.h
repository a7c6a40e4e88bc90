// What others take of the cores while something is measured: other programs, as this process loses
// its cores to them, and other guests of the same host, which takes cores away altogether.
#pragma once

#include <string_view>
#include <vector>

namespace attune::probe {

// So far.
struct Disturbance {
  double preemptions = 0;     // of all threads of this process
  double stolen_seconds = 0;  // of all these cores; 0 where the system does not count them
};
Disturbance disturbance_so_far(const std::vector<int>& cores);

// The same of the text of /proc/stat, in ticks of the system's clock.
long long stolen_ticks(std::string_view stat, const std::vector<int>& cores);

}  // namespace attune::probe
