#include "app/verbs/jobs/scheduler.h"

#include <gtest/gtest.h>

#include "fleet/wire/devices.h"
#include "targets/kinds.h"

namespace attune::verbs {
namespace {

using Cores = std::vector<int>;

TEST(CorePlan, TheLastCoreIsForMeasuringUnlessToldOtherwise) {
  EXPECT_EQ(*plan_cores({0, 1}, {}, {}), (CorePlan{{0}, {1}}));
  EXPECT_EQ(*plan_cores({0, 1, 2, 3}, {}, {2, 3}), (CorePlan{{0, 1}, {2, 3}}));
  EXPECT_EQ(*plan_cores({0, 1, 2, 3}, {1}, {}), (CorePlan{{1}, {0, 2, 3}}));
  EXPECT_EQ(*plan_cores({5}, {}, {}), (CorePlan{{5}, {5}}));
  EXPECT_EQ(*plan_cores({0, 1}, {}, {0, 1}), (CorePlan{{0, 1}, {0, 1}}));
}

TEST(CorePlan, OtherCoresAreRefused) {
  const auto plan = plan_cores({0, 1}, {}, {7});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "this process may not use core 7");
  EXPECT_EQ(plan.error().hint, "it may use 0, 1");
}

TEST(TakeCpuDevices, SplitsTheMeasuringCoresEqually) {
  const CorePlan plan{.host = {0}, .profile = {1, 2, 3, 4}};
  std::map<std::string, int> devices = {{"cpu", 2}, {"cuda", 1}};
  EXPECT_EQ(*take_cpu_devices(plan, devices), 2);
  EXPECT_EQ(devices, (std::map<std::string, int>{{"cuda", 1}}));
  EXPECT_EQ(*take_cpu_devices(plan, devices), 1);
  devices["cpu"] = 3;
  const auto odd = take_cpu_devices(plan, devices);
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().message, "3 devices cpu cannot be made of 4 measuring cores");
}

// Jobs for the default target are measured on the cores that a scheduler keeps for that.
TEST(MeasuringCores, AreTheDeviceOfTheDefaultTarget) {
  EXPECT_EQ(targets::default_kind().device, wire::kMeasuringCores);
}

TEST(ServeJobs, QuotasNeedAPolicyThatHasThem) {
  const Status status =
      serve_jobs({.state = testing::TempDir() + "/nothing-here", .quotas = {{"ann", 2}}},
                 [](const Serving&) { FAIL(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the policy 'makespan' has no quotas");
  EXPECT_EQ(status.error().hint, "give --policy fair-share, or leave out --quota");
}

}  // namespace
}  // namespace attune::verbs
