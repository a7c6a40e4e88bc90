#include "tuner/measure/probe/speed/disturbance.h"

#include <gtest/gtest.h>

namespace attune::probe {
namespace {

constexpr const char* kStat =
    "cpu  317557 1384 45091 74841 749 0 170 40400 0 0\n"
    "cpu0 162952 630 23577 32405 343 0 16 195 0 0\n"
    "cpu1 154604 753 21513 42435 406 0 153 209 0 0\n"
    "cpu12 1 2 3 4 5 6 7 8\n"
    "cpu3 1 2 3 4\n"
    "intr 1 2 3 4 5 6 7 8 9\n";

TEST(Disturbance, IsWhatTheHostTookFromTheseCores) {
  EXPECT_EQ(stolen_ticks(kStat, {0}), 195);
  EXPECT_EQ(stolen_ticks(kStat, {0, 1}), 404);
  EXPECT_EQ(stolen_ticks(kStat, {12}), 8);
  // Of cores that are not there, and of kernels that do not count it.
  EXPECT_EQ(stolen_ticks(kStat, {2}), 0);
  EXPECT_EQ(stolen_ticks(kStat, {3}), 0);
  EXPECT_EQ(stolen_ticks("", {0}), 0);
}

TEST(Disturbance, OnlyGrows) {
  const Disturbance before = disturbance_so_far({0}), after = disturbance_so_far({0});
  EXPECT_GE(after.preemptions, before.preemptions);
  EXPECT_GE(after.stolen_seconds, before.stolen_seconds);
}

}  // namespace
}  // namespace attune::probe
