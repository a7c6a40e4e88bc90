#include "app/cli/tune_progress.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

TEST(TuneProgress, SaysWhatIsKnown) {
  api::TuneProgress progress;
  progress.task = "matmul:m=4,n=4,k=4";
  progress.trials = 0;
  progress.trials_total = 128;
  EXPECT_EQ(progress_text(progress), "matmul:m=4,n=4,k=4  0/128 trials");
  progress.trials = 48;
  progress.best_us = 123.456;
  progress.best_gflops = 88.94;
  progress.percent_of_peak = 91.6;
  progress.failures = {{"build_failed", 2}, {"timed_out", 1}};
  progress.eta_seconds = 4.2;
  EXPECT_EQ(progress_text(progress),
            "matmul:m=4,n=4,k=4  48/128 trials  best 123.5 µs, 88.9 GFLOP/s (92 % of peak)  "
            "2 build_failed  1 timed_out  ETA 5 s");
}

TEST(TuneProgress, ShortensLongNames) {
  api::TuneProgress progress;
  progress.task = "conv2d:h=112,w=112,ic=256,oc=256,kh=3,kw=3,pad=1";
  progress.trials_total = 8;
  EXPECT_EQ(progress_text(progress), "conv2d:h=112,w=112,ic=256,oc=256,kh=3,k…  0/8 trials");
}

TEST(TuneProgress, ATimeLimitHasNoTotal) {
  api::TuneProgress progress;
  progress.task = "x";
  progress.trials = 3;
  progress.trials_total = 1'000'000'000;
  progress.limited_by_time = true;
  progress.eta_seconds = 185;
  EXPECT_EQ(progress_text(progress), "x  3 trials  ETA 3 min 5 s");
}

}  // namespace
}  // namespace attune::cli
