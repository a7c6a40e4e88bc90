#include "tuner/whole_model/contest/kernel_times.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

TEST(KernelTimes, EachKernelIsTakenFromWhereItIsFastest) {
  const std::vector<KernelTimes> times{{100, 50, 10}, {90, 60, 10}, {95, 40, 11}};
  EXPECT_EQ(fastest_artifacts(times), (std::vector<std::size_t>{1, 2, 0}));
}

TEST(KernelTimes, TheFirstStaysUnlessAnotherIsClearlyFaster) {
  const std::vector<KernelTimes> times{{100, 50}, {99.5, 49}};
  EXPECT_EQ(fastest_artifacts(times), (std::vector<std::size_t>{0, 1}));
}

TEST(KernelTimes, AFirstRunCountsOnlyWhereASecondOneTakesTooLong) {
  EXPECT_TRUE(runs_again(0.1, 0.25));
  EXPECT_TRUE(runs_again(0.3, 0.25));
  EXPECT_TRUE(runs_again(0.5, 0.25));
  EXPECT_FALSE(runs_again(0.6, 0.25));
  EXPECT_TRUE(runs_again(3, 4));
}

TEST(KernelTimes, AnArtifactThatIsMissingIsAnError) {
  const auto times = time_kernels({"/nowhere/at/all.attune"}, {}, {.seconds = 0.01, .rounds = 1});
  ASSERT_FALSE(times.ok());
  EXPECT_NE(times.error().message.find("/nowhere/at/all.attune"), std::string::npos)
      << times.error().message;
}

}  // namespace
}  // namespace attune::whole_model
