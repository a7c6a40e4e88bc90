#include "tuner/measure/probe/sentinel.h"

#include <gtest/gtest.h>

namespace attune::probe {
namespace {

TEST(Sentinel, DriftIsTheLargerChangeInEitherDirection) {
  EXPECT_NEAR(drift_between({100.0, 50.0}, {100.0, 55.0}), 0.1, 1e-12);
  EXPECT_NEAR(drift_between({120.0, 50.0}, {100.0, 55.0}), 0.2, 1e-12);
  EXPECT_EQ(drift_between({}, {100.0, 50.0}), 0.0);  // a failed reading says nothing
}

TEST(DriftLimit, IsThreePercentOnAQuietMachine) {
  DriftLimit limit;
  EXPECT_DOUBLE_EQ(limit.limit(), 0.03);
  for (int i = 0; i < 20; ++i) limit.learn(0.005);
  EXPECT_DOUBLE_EQ(limit.limit(), 0.03);
}

TEST(DriftLimit, FollowsANoisyMachineAndForgets) {
  DriftLimit limit;
  for (int i = 0; i < 20; ++i) limit.learn(0.1);
  EXPECT_DOUBLE_EQ(limit.limit(), 0.2);
  limit.learn(5.0);  // one outlier moves nothing
  EXPECT_DOUBLE_EQ(limit.limit(), 0.2);
  for (int i = 0; i < 16; ++i) limit.learn(0.0);
  EXPECT_DOUBLE_EQ(limit.limit(), 0.03);
}

}  // namespace
}  // namespace attune::probe
