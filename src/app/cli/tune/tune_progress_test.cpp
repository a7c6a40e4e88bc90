#include "app/cli/tune/tune_progress.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

whole_model::TuneProgress of_operator(const std::string& name) {
  return {.tasks = {{.name = name}}, .trials_total = 128};
}

TEST(TuneProgress, SaysWhatIsKnown) {
  whole_model::TuneProgress progress = of_operator("matmul:m=4,n=4,k=4");
  EXPECT_EQ(progress_text(progress), "matmul:m=4,n=4,k=4  0/128 trials");
  progress.trials = 48;
  progress.tasks[0].best_us = 123.456;
  progress.tasks[0].best_gflops = 88.94;
  progress.tasks[0].percent_of_peak = 91.6;
  progress.failures = {{"build_failed", 2}, {"timed_out", 1}};
  progress.left_seconds = 4.2;
  EXPECT_EQ(progress_text(progress),
            "matmul:m=4,n=4,k=4  48/128 trials  best 123.5 µs, 88.9 GFLOP/s (92 % of peak)  "
            "2 build_failed  1 timed_out  5 s left");
}

TEST(TuneProgress, ShortensLongNames) {
  const auto progress = of_operator("conv2d:h=112,w=112,ic=256,oc=256,kh=3,kw=3,pad=1");
  EXPECT_EQ(progress_text(progress), "conv2d:h=112,w=112,ic=256,oc=256,kh=3,k…  0/128 trials");
}

TEST(TuneProgress, ATimeLimitHasNoTotal) {
  whole_model::TuneProgress progress = of_operator("x");
  progress.trials = 3;
  progress.trials_total.reset();
  progress.left_seconds = 185;
  EXPECT_EQ(progress_text(progress), "x  3 trials  3 min 5 s left");
}

TEST(TuneProgress, OfAModelNamesTheTaskThatRan) {
  whole_model::TuneProgress progress{
      .task = 1, .tasks = {{.name = "a"}, {.name = "b"}}, .trials = 9};
  progress.left_seconds = 5;
  EXPECT_EQ(progress_text(progress), "0/2 tasks settled  9 trials  5 s left  b");
}

}  // namespace
}  // namespace attune::cli
