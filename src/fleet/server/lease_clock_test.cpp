#include "fleet/server/lease_clock.h"

#include <gtest/gtest.h>

namespace attune::server {
namespace {

TEST(LeaseClock, CountsTheTimeInWhichItIsLookedAtOften) {
  LeaseClock clock(100, 0.5);
  EXPECT_EQ(clock.stalled_seconds(100.5, true), 0);
  EXPECT_EQ(clock.stalled_seconds(100.6, true), 0);
}

TEST(LeaseClock, StandsStillWhileTheSchedulerIsAway) {
  LeaseClock clock(100, 0.5);
  EXPECT_EQ(clock.stalled_seconds(160, true), 60);
  EXPECT_EQ(clock.stalled_seconds(160.25, true), 0);
  EXPECT_EQ(clock.stalled_seconds(161.25, true), 0) << "late, as happens";
  EXPECT_EQ(clock.stalled_seconds(162.5, true), 1.25);
}

TEST(LeaseClock, StandsStillWhileNobodyIsAnswered) {
  LeaseClock clock(100, 0.5);
  EXPECT_EQ(clock.stalled_seconds(100.25, false), 0.25);
  EXPECT_EQ(clock.stalled_seconds(130, false), 29.75);
  EXPECT_EQ(clock.stalled_seconds(130.25, true), 0);
}

TEST(LeaseClock, NeverTakesTimeBack) {
  LeaseClock clock(100, 0.5);
  EXPECT_EQ(clock.stalled_seconds(90, false), 0);
  EXPECT_EQ(clock.stalled_seconds(100, false), 0);
  EXPECT_EQ(clock.stalled_seconds(101, false), 1);
}

}  // namespace
}  // namespace attune::server
