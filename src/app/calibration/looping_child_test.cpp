#include "app/calibration/looping_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/calibration/workload.h"
#include "base/cage/call_filter.h"
#include "base/clock.h"
#include "fleet/jobs/simulation/colocation_file.h"
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

TEST(LoopingChild, ThatIsNeverReadyIsGivenUp) {
  const auto child = LoopingChild::start(
      "hanging", runtime::allowed_cores(),
      []() -> Result<std::function<Status()>> {
        for (;;) ::pause();
      },
      0.1);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "hanging was not ready after 0.1 seconds");
}

// The work that stands for measurements is caged as they are.
TEST(LoopingChild, RunsKernelsInACage) {
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  const auto child = LoopingChild::start("measuring", runtime::allowed_cores(),
                                         []() -> Result<std::function<Status()>> {
                                           ATTUNE_ASSIGN(const std::function<Status()> repeat,
                                                         workload_like(jobs::kProfileCompute, 1)());
                                           return std::function<Status()>([repeat]() -> Status {
                                             ATTUNE_RETURN_IF_ERROR(repeat());
                                             (void)::open("/dev/null", O_RDONLY);
                                             return {};
                                           });
                                         });
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "measuring crashed: called openat, which kernels may not");
}

}  // namespace
}  // namespace attune::calibration
