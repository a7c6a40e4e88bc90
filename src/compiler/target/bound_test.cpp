#include "compiler/target/bound.h"

#include <gtest/gtest.h>

#include "compiler/target/simple_target_testing.h"

namespace attune::target {
namespace {

TEST(Bound, IsWhatTakesLonger) {
  EXPECT_DOUBLE_EQ(bound_us({.flops = 32e3, .bytes = 100}, simple_target(1)), 1);
  EXPECT_DOUBLE_EQ(bound_us({.flops = 1, .bytes = 640}, simple_target(1)), 0.01);
}

TEST(Bound, GoesByTheLevelThatTheBytesFitIn) {
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 9600}, simple_target(1)), 0.3);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 50'000}, simple_target(1)), 5);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 500'000}, simple_target(1)), 100);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 5000, .cold_bytes = 5000}, simple_target(1)), 1);
}

TEST(Bound, ThreadsShareWhatTheyHaveInCommonAndMustBeStarted) {
  EXPECT_DOUBLE_EQ(bound_us({.flops = 128e3}, simple_target(4)), 1 + 2);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 90'000}, simple_target(4)), 3 + 2);
  EXPECT_DOUBLE_EQ(bound_us({.bytes = 7.5e6}, simple_target(4)), 1000 + 2);
  Target one_core = simple_target(2);
  one_core.machine.compute_sharing = 1;
  EXPECT_DOUBLE_EQ(bound_us({.flops = 32e3}, one_core), 1 + 2);
}

// What was measured on all cores is not what a few threads take.
TEST(Bound, FewerThreadsThanCoresAreStartedSooner) {
  Target target = simple_target(3);
  target.machine.cores = 5;
  EXPECT_DOUBLE_EQ(bound_us({}, target), 1);
  target.threads = 5;
  EXPECT_DOUBLE_EQ(bound_us({}, target), 2);
  target.threads = 1;
  EXPECT_DOUBLE_EQ(bound_us({}, target), 0);
}

TEST(ForkJoin, IsTakenAsItIsWhereItIsStatedOrOfTwoCores) {
  Machine machine{.fork_join_us = 2};
  EXPECT_EQ(fork_join_us(machine, 2), 2);
  EXPECT_EQ(fork_join_us(machine, 64), 2);
  machine.cores = 2;
  EXPECT_EQ(fork_join_us(machine, 2), 2);
  machine.cores = 9;
  EXPECT_EQ(fork_join_us(machine, 9), 2);
  EXPECT_EQ(fork_join_us(machine, 2), 0.25);
  EXPECT_EQ(fork_join_us(machine, 17), 4);
}

}  // namespace
}  // namespace attune::target
