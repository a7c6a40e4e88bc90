#include "app/calibration/looping_child.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "runtime/execution/affinity.h"

namespace attune::calibration {
namespace {

// Returns once the child has finished some repetitions of its own.
std::vector<double> some_repetitions(const LoopingChild& child) {
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  child.go();
  std::vector<double> seen;
  while (seen.size() < 3) seen = child.repetitions(begin, clock.now_ns());
  child.halt();
  return seen;
}

LoopingChild::Prepare spinning() {
  return []() -> Result<std::function<Status()>> {
    return std::function<Status()>([]() -> Status {
      volatile int sum = 0;
      for (int i = 0; i < 1000; ++i) sum = sum + i;
      return {};
    });
  };
}

TEST(LoopingChild, RepeatsOnlyWhileItIsLet) {
  const auto child = LoopingChild::start("spinning", runtime::allowed_cores(), spinning());
  ASSERT_TRUE(child.ok()) << child.error().message;
  for (const double seconds : some_repetitions(*child)) EXPECT_GT(seconds, 0);
  const SteadyClock clock;
  const std::int64_t rests = clock.now_ns();
  EXPECT_TRUE(child->repetitions(rests, clock.now_ns()).empty());
  EXPECT_GE(some_repetitions(*child).size(), 3u);
}

TEST(LoopingChild, SaysWhyItDoesNotStart) {
  const auto child = LoopingChild::start(
      "failing", runtime::allowed_cores(),
      []() -> Result<std::function<Status()>> { return invalid("there is nothing to repeat"); });
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "there is nothing to repeat");
}

}  // namespace
}  // namespace attune::calibration
