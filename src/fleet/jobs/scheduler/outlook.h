// When jobs will end that share pools: as if every pool served all who wait for it in equal parts.
#pragma once

#include <vector>

namespace attune::jobs {

// What a job still needs.
struct Demand {
  double alone_seconds = 0;          // with nothing else running
  std::vector<double> pool_seconds;  // units × seconds, by pool
};

// Seconds from now until each has ended. With equal parts a job on a pool of c units has ended when
// every other had as much as it needs itself, or all that it needs: Σ min(theirs, own) ÷ c.
std::vector<double> shared_ends(const std::vector<Demand>& demands,
                                const std::vector<int>& capacities);

}  // namespace attune::jobs
