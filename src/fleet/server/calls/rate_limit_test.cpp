#include "fleet/server/calls/rate_limit.h"

#include <gtest/gtest.h>

namespace attune::server {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

int admitted(RateLimit& limit, int tries, std::int64_t now_ns) {
  int number = 0;
  for (int i = 0; i < tries; ++i) number += limit.admit(now_ns) ? 1 : 0;
  return number;
}

TEST(RateLimit, AllowsSoManyAtOnceAndSoManyASecondThen) {
  RateLimit limit({.at_once = 10, .a_second = 4});
  EXPECT_EQ(admitted(limit, 100, 5 * kSecond), 10);
  EXPECT_EQ(admitted(limit, 100, 5 * kSecond), 0);
  EXPECT_EQ(admitted(limit, 100, 6 * kSecond), 4);
  EXPECT_EQ(admitted(limit, 100, 6 * kSecond + kSecond / 2), 2);
  EXPECT_EQ(admitted(limit, 100, 1000 * kSecond), 10) << "no more is saved up";
}

TEST(RateLimit, WhoAsksSlowlyIsNeverRefused) {
  RateLimit limit({.at_once = 2, .a_second = 4});
  for (std::int64_t i = 1; i < 1000; ++i) EXPECT_TRUE(limit.admit(i * kSecond / 4));
}

TEST(RateLimit, ATimeThatComesLateGivesNothing) {
  RateLimit limit({.at_once = 1, .a_second = 1});
  EXPECT_TRUE(limit.admit(9 * kSecond));
  EXPECT_FALSE(limit.admit(2 * kSecond));
  EXPECT_FALSE(limit.admit(9 * kSecond));
  EXPECT_TRUE(limit.admit(10 * kSecond));
}

TEST(RateLimit, WhatIsDoneInSpiteOfItIsWaitedForAfterwards) {
  RateLimit limit({.at_once = 10, .a_second = 4});
  EXPECT_EQ(limit.charge(kSecond, 4), 0);
  EXPECT_EQ(limit.charge(kSecond, 8), 0.5);
  EXPECT_FALSE(limit.admit(kSecond));
  EXPECT_FALSE(limit.is_full(2 * kSecond));
  EXPECT_TRUE(limit.admit(2 * kSecond));
  EXPECT_TRUE(limit.is_full(100 * kSecond));
}

// Who takes their share of the time all the time uses their rate up, and no more.
TEST(RateLimit, TimeCountsByItsShare) {
  constexpr double kShare = 0.05;
  const RateLimit::Rate rate{.at_once = 10, .a_second = 4};
  EXPECT_EQ(times_of(kShare, kShare, rate), 4);
  RateLimit limit(rate);
  EXPECT_EQ(limit.charge(kSecond, times_of(2 * kShare, kShare, rate)), 0);
  EXPECT_EQ(limit.charge(3 * kSecond, times_of(5 * kShare, kShare, rate)), 2.5);
}

}  // namespace
}  // namespace attune::server
