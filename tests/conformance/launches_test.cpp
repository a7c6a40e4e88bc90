// A sample of what the property suite does with random launches.
#include <gtest/gtest.h>

#include "tests/support/random/random_launch.h"

namespace attune::test {
namespace {

TEST(Launches, ASampleOfBoundTracesKeepsTheMeaning) {
  const LaunchCounts counts = compare_random_launches(1000000, 60);
  for (const std::string& failure : counts.failures) ADD_FAILURE() << failure;
  EXPECT_GE(counts.agreed, 60);
  EXPECT_GE(counts.shared, 5);
  EXPECT_GE(counts.barriers, 3);
}

}  // namespace
}  // namespace attune::test
