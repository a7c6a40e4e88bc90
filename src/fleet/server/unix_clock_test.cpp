#include "fleet/server/unix_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune::server {
namespace {

TEST(UnixClock, GoesOnWhileTheMachineSleeps) {
  double uptime = 500;
  const UnixClock clock([&] { return uptime; });
  const double begun = clock.now();
  EXPECT_LT(std::abs(begun - static_cast<double>(unix_time_ms()) * 1e-3), 60);
  uptime += 8 * 3600;
  EXPECT_EQ(clock.now(), begun + 8 * 3600);
}

// A wait that is slept through ends when it would have, counted from the waking.
TEST(UnixClock, MomentsAreSoLongFromNow) {
  double uptime = 500;
  const UnixClock clock([&] { return uptime; });
  const auto before = std::chrono::steady_clock::now();
  uptime += 100;
  const auto moment = clock.moment_of(clock.now() + 5);
  const std::chrono::duration<double> after = moment - before;
  EXPECT_GE(after.count(), 5);
  EXPECT_LT(after.count(), 60);
}

TEST(UnixClock, KnowsThatTheMachinesWasSet) {
  double uptime = 500, wall = 1e9;
  const UnixClock clock([&] { return uptime; }, [&] { return wall; });
  uptime += 100, wall += 100;
  EXPECT_EQ(clock.now(), 1e9 + 100);
  EXPECT_EQ(clock.set_since(), 0);
  wall -= 86400;
  EXPECT_EQ(clock.now(), 1e9 + 100) << "no order of events changes";
  EXPECT_EQ(clock.set_since(), 86400);
}

TEST(UnixClock, IsThatOfTheSystem) {
  const UnixClock clock;
  const double begun = clock.now();
  EXPECT_GE(clock.now(), begun);
}

}  // namespace
}  // namespace attune::server
