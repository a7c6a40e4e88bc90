#include "tuner/measure/local_runner.h"

#include <gtest/gtest.h>

namespace attune::measure {
namespace {

TEST(CorePlanTest, MeasuringLeavesTheFirstCoresToBuild) {
  const CorePlan plan = plan_cores({0, 1, 5, 6}, 1);
  EXPECT_TRUE(plan.overlap);
  EXPECT_EQ(plan.measure, std::vector<int>{6});
  EXPECT_EQ(plan.build, (std::vector<int>{0, 1, 5}));
}

TEST(CorePlanTest, TakesTurnsWhenAllCoresAreMeasured) {
  for (const int threads : {2, 3}) {
    const CorePlan plan = plan_cores({3, 4}, threads);
    EXPECT_FALSE(plan.overlap);
    EXPECT_EQ(plan.measure, (std::vector<int>{3, 4}));
    EXPECT_EQ(plan.build, (std::vector<int>{3, 4}));
  }
}

}  // namespace
}  // namespace attune::measure
