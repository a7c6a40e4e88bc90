#include "app/calibration/calibrate.h"

#include <gtest/gtest.h>

namespace attune::calibration {
namespace {

TEST(Calibrate, SlowdownIsTheMedianOfTheRounds) {
  const std::vector<std::vector<double>> alone{{1, 1, 9}, {2, 2}, {1}};
  EXPECT_DOUBLE_EQ(slowdown_of(alone, {{1.5, 1.5, 1.5}, {2.2, 2.2}, {7}}), 1.5);
  // A round in which nothing finished says nothing.
  EXPECT_DOUBLE_EQ(slowdown_of(alone, {{}, {2.2, 2.2}, {}}), 1.1);
  EXPECT_DOUBLE_EQ(slowdown_of(alone, {{}, {}, {}}), 1);
}

TEST(Calibrate, RefusesCoresThatAreNotThere) {
  CalibrateOptions options;
  options.device_cores = {100'000};
  const auto report = calibrate(options, [](const std::string&) {});
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(report.error().message == "this process may not use core 100000" ||
              report.error().message.starts_with("this process may use one core only"))
      << report.error().message;
}

TEST(Calibrate, RefusesDevicesThatItsCoresCannotMake) {
  CalibrateOptions options;
  options.devices = 1'000;
  const auto report = calibrate(options, [](const std::string&) {});
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(report.error().message.starts_with("1000 devices cpu cannot be made of 1 ") ||
              report.error().message.starts_with("this process may use one core only"))
      << report.error().message;
}

}  // namespace
}  // namespace attune::calibration
