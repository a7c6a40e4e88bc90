#include "tuner/outcome/outcome.h"

#include <gtest/gtest.h>

namespace attune::outcome {
namespace {

TEST(Outcome, SaysKindPhaseAndReason) {
  const Outcome crash = RunCrashed{Phase::Run, 11, "segmentation fault"};
  EXPECT_EQ(kind_of(crash), "run_crashed");
  EXPECT_EQ(phase_of(crash), Phase::Run);
  EXPECT_EQ(describe(crash), "crashed in run: segmentation fault");
  EXPECT_EQ(describe(WrongAnswer{Phase::Verify, 1.0, "output 2 differs"}),
            "wrong answer in verify: output 2 differs");
  EXPECT_EQ(describe(BuildFailed{Phase::Load, "no function 'f'"}),
            "build failed in load: no function 'f'");
}

TEST(Outcome, DescribesATiming) {
  EXPECT_EQ(describe(Timing{
                .best_us = 12.5, .median_us = 13.0, .cv = 0.021, .repeats = 9, .noisy = true}),
            "12.500 us (median 13.000 us, cv 2.1 %, 9 repeats, noisy)");
  EXPECT_EQ(kind_of(Timing{}), "timing");
}

}  // namespace
}  // namespace attune::outcome
