#include "compiler/model/bound.h"

#include <gtest/gtest.h>

#include "compiler/target/simple_target_testing.h"

namespace attune::model {
namespace {

using runtime::KernelArgument, runtime::KernelCall, runtime::Place;

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
  const std::vector<double> warm = bounds_us(sample(), target::simple_target(1), false);
  ASSERT_EQ(warm.size(), 4u);
  EXPECT_DOUBLE_EQ(warm[0], 2);
  EXPECT_DOUBLE_EQ(warm[1], 5640 / 32e3);
  EXPECT_DOUBLE_EQ(warm[3], 0);
}

TEST(PlanBounds, ColdWeightsComeFromMemoryUnlessALoopReadsThemAgain) {
  const std::vector<double> cold = bounds_us(sample(), target::simple_target(1), true);
  ASSERT_EQ(cold.size(), 4u);
  EXPECT_DOUBLE_EQ(cold[0], 2);
  EXPECT_DOUBLE_EQ(cold[1], 1);
  EXPECT_DOUBLE_EQ(cold[2], 5640 / 32e3);
}

}  // namespace
}  // namespace attune::model
