#include "compiler/target/bound.h"

#include <gtest/gtest.h>

namespace attune::target {
namespace {

// One operation a nanosecond and lane, and figures that are easy to divide by.
Target simple(int threads) {
  Target target;
  target.threads = threads;
  target.l1_bytes = 1000, target.l2_bytes = 10'000, target.l3_bytes = 100'000;
  target.machine = {.ghz = 1,
                    .fma_bytes_per_cycle = 64,
                    .load_bytes_per_cycle = 64,
                    .l2_bandwidth = 32,
                    .l3_bandwidth = 10,
                    .dram_bandwidth = 5,
                    .l3_sharing = 3,
                    .dram_sharing = 1.5,
                    .fork_join_us = 2};
  return target;
}

TEST(Bound, IsWhatTakesLonger) {
  EXPECT_DOUBLE_EQ(bound_us({.flops = 32e3, .bytes = 100}, simple(1)), 1);
  EXPECT_DOUBLE_EQ(bound_us({.flops = 1, .bytes = 640}, simple(1)), 0.01);
}

TEST(Bound, GoesByTheLevelThatTheBytesFitIn) {
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 9600}, simple(1)), 0.3);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 50'000}, simple(1)), 5);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 500'000}, simple(1)), 100);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 5000, .cold_bytes = 5000}, simple(1)), 1);
}

TEST(Bound, ThreadsShareWhatTheyHaveInCommonAndMustBeStarted) {
  EXPECT_DOUBLE_EQ(bound_us({.flops = 128e3}, simple(4)), 1 + 2);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 90'000}, simple(4)), 3 + 2);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 7.5e6}, simple(4)), 1000 + 2);
  Target one_core = simple(2);
  one_core.machine.compute_sharing = 1;
  EXPECT_DOUBLE_EQ(bound_us({.flops = 32e3}, one_core), 1 + 2);
}

}  // namespace
}  // namespace attune::target
