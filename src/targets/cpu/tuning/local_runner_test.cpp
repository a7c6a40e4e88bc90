#include "targets/cpu/tuning/local_runner.h"

#include <gtest/gtest.h>

namespace attune::cpu {
namespace {

target::Target with_threads(int threads) {
  target::Target target;
  target.threads = threads;
  return target;
}

TEST(CorePlanTest, MeasuringLeavesTheFirstCoresToBuild) {
  const tuning::CorePlan plan = plan_cores({0, 1, 5, 6}, with_threads(1));
  EXPECT_TRUE(plan.overlap);
  EXPECT_EQ(plan.measure, std::vector<int>{6});
  EXPECT_EQ(plan.build, (std::vector<int>{0, 1, 5}));
}

TEST(CorePlanTest, TakesTurnsWhenAllCoresAreMeasured) {
  for (const int threads : {2, 3}) {
    const tuning::CorePlan plan = plan_cores({3, 4}, with_threads(threads));
    EXPECT_FALSE(plan.overlap);
    EXPECT_EQ(plan.measure, (std::vector<int>{3, 4}));
    EXPECT_EQ(plan.build, (std::vector<int>{3, 4}));
  }
}

}  // namespace
}  // namespace attune::cpu
