#include "compiler/graph/memory_plan.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace attune::graph {
namespace {

TEST(PlanMemory, SharesWhatIsNotAliveTogether) {
  const MemoryPlan plan = plan_memory({{128, 0, 1}, {128, 1, 2}, {128, 2, 3}});
  EXPECT_EQ(plan.bytes, 256);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(PlanMemory, NothingAliveTogetherOverlaps) {
  Rng rng(1);
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 200; ++i) {
    const auto first = static_cast<std::int64_t>(rng.below(100));
    lifetimes.push_back({static_cast<std::int64_t>(rng.below(5000)), first,
                         first + static_cast<std::int64_t>(rng.below(20))});
  }
  const MemoryPlan plan = plan_memory(lifetimes);
  for (std::size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 64, 0);
    for (std::size_t b = 0; b < a; ++b) {
      const bool together =
          lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      const bool overlap = plan.offsets[a] < plan.offsets[b] + lifetimes[b].bytes &&
                           plan.offsets[b] < plan.offsets[a] + lifetimes[a].bytes;
      EXPECT_FALSE(together && overlap) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace attune::graph
