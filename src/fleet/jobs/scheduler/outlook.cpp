#include "fleet/jobs/scheduler/outlook.h"

#include <algorithm>
#include <numeric>

namespace attune::jobs {

std::vector<double> shared_ends(const std::vector<Demand>& demands,
                                const std::vector<int>& capacities) {
  std::vector<double> ends;
  for (const Demand& demand : demands) ends.push_back(demand.alone_seconds);
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t pool = 0; pool < capacities.size(); ++pool) {
    const auto need = [&](std::size_t job) { return demands[job].pool_seconds[pool]; };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return need(a) < need(b); });
    double smaller = 0;  // all that is needed by those who need less
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double own = need(order[i]);
      const auto others = static_cast<double>(order.size() - i);
      const double end = own > 0 ? (smaller + own * others) / capacities[pool] : 0;
      ends[order[i]] = std::max(ends[order[i]], end);
      smaller += own;
    }
  }
  return ends;
}

}  // namespace attune::jobs
