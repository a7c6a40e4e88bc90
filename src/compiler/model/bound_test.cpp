#include "compiler/model/bound.h"

#include <gtest/gtest.h>

namespace attune::model {
namespace {

using runtime::KernelArgument, runtime::KernelCall, runtime::Place;

// One operation a nanosecond and lane, and figures that are easy to divide by.
target::Target simple() {
  target::Target target;
  target.threads = 1;
  target.l1_bytes = 1000, target.l2_bytes = 10'000, target.l3_bytes = 100'000;
  target.machine = {.ghz = 1,
                    .fma_bytes_per_cycle = 64,
                    .load_bytes_per_cycle = 64,
                    .l2_bandwidth = 32,
                    .l3_bandwidth = 10,
                    .dram_bandwidth = 5};
  return target;
}

// A kernel that computes, one that reads weights, one that does so in a loop, and one that nobody
// calls.
runtime::Plan sample() {
  runtime::Plan plan;
  plan.buffers = {{.place = Place::Input, .bytes = 640},
                  {.place = Place::Arena, .bytes = 640},
                  {.place = Place::Constant, .bytes = 5000}};
  const std::vector<KernelArgument> weighted{{5000, false}, {640, true}};
  plan.kernels = {{"computes", 0, 0, {{640, false}, {640, true}}},
                  {"reads", 0, 0, weighted},
                  {"repeats", 0, 0, weighted},
                  {"idle", 0, 0, weighted}};
  runtime::Loop loop;
  loop.trip_count = 3;
  loop.body = {{KernelCall{.kernel = 2, .buffers = {2, 1}, .layer = "c"}}};
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1}, .layer = "a", .flops = 64e3}},
               {KernelCall{.kernel = 1, .buffers = {2, 1}, .layer = "b"}},
               {std::move(loop)}};
  return plan;
}

TEST(PlanBounds, AreThoseOfWhatEachKernelComputesAndTouches) {
  const std::vector<double> warm = bounds_us(sample(), simple(), false);
  ASSERT_EQ(warm.size(), 4u);
  EXPECT_DOUBLE_EQ(warm[0], 2);
  EXPECT_DOUBLE_EQ(warm[1], 5640 / 32e3);
  EXPECT_DOUBLE_EQ(warm[3], 0);
}

TEST(PlanBounds, ColdWeightsComeFromMemoryUnlessALoopReadsThemAgain) {
  const std::vector<double> cold = bounds_us(sample(), simple(), true);
  ASSERT_EQ(cold.size(), 4u);
  EXPECT_DOUBLE_EQ(cold[0], 2);
  EXPECT_DOUBLE_EQ(cold[1], 1);
  EXPECT_DOUBLE_EQ(cold[2], 5640 / 32e3);
}

}  // namespace
}  // namespace attune::model
