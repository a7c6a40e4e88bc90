#include "tuner/measure/probe/timing_loop.h"

#include <gtest/gtest.h>

namespace attune::probe {
namespace {

// A kernel on a clock of its own: each repeat takes the next of the given times per call.
class FakeKernel final : public Clock {
 public:
  explicit FakeKernel(std::vector<double> call_us) : call_us_(std::move(call_us)) {}
  std::int64_t now_ns() const override { return now_ns_; }
  Calls calls() {
    return [this](std::int64_t count) {
      const double call = call_us_[std::min(repeats_, call_us_.size() - 1)];
      ++repeats_;
      now_ns_ += static_cast<std::int64_t>(call * 1e3 * static_cast<double>(count));
      counts_.push_back(count);
    };
  }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<double> call_us_;
  std::size_t repeats_ = 0;
  std::int64_t now_ns_ = 0;
  std::vector<std::int64_t> counts_;
};

MeasureOptions with(double budget_us, double timeout_ms = 5'000.0) {
  return {.repeat_us = 200.0, .budget_us = budget_us, .timeout_ms = timeout_ms};
}
const MeasureOptions kUsual = with(20'000.0);

TEST(TimingLoop, ARepeatTakesAboutTheTimeAskedFor) {
  EXPECT_EQ(calls_per_repeat(1.0, 200.0), 200);
  EXPECT_EQ(calls_per_repeat(150.0, 200.0), 2);
  EXPECT_EQ(calls_per_repeat(5000.0, 200.0), 1);
  EXPECT_EQ(calls_per_repeat(0.0, 200.0), 200'000);
}

TEST(TimingLoop, TakesTheFastestRepeatWithinTheBudget) {
  FakeKernel kernel({10.0, 12.0, 9.0, 11.0});
  const auto timing = time_kernel(kernel, kernel.calls(), 10.0, 0.0, with(800.0));
  EXPECT_DOUBLE_EQ(timing.best_us, 9.0);
  EXPECT_EQ(timing.repeats, 4);  // 200 + 240 + 180 + 220 us
  EXPECT_DOUBLE_EQ(timing.median_us, 10.5);
  EXPECT_EQ(timing.calls_per_repeat, 20);
  EXPECT_FALSE(timing.cut_short);
}

TEST(TimingLoop, GrowsWhenTheFirstCallWasSlow) {
  FakeKernel kernel({2.0});
  MeasureOptions three = kUsual;
  three.max_repeats = 3;
  const auto timing = time_kernel(kernel, kernel.calls(), 1000.0, 0.0, three);
  EXPECT_EQ(timing.calls_per_repeat, 100);
  EXPECT_DOUBLE_EQ(timing.best_us, 2.0);
  EXPECT_EQ(kernel.counts(), (std::vector<std::int64_t>{1, 100, 100, 100}));
}

TEST(TimingLoop, LongKernelsStillRepeat) {
  FakeKernel kernel({50'000.0});
  EXPECT_EQ(time_kernel(kernel, kernel.calls(), 50'000.0, 0.0, kUsual).repeats, 3);
}

TEST(TimingLoop, RepeatsStayClearOfTheTimeout) {
  FakeKernel slow({400'000.0});
  EXPECT_EQ(time_kernel(slow, slow.calls(), 400'000.0, 0.0, with(20'000.0, 2'000.0)).repeats, 2);
  FakeKernel slower({1'500'000.0});
  const auto timing =
      time_kernel(slower, slower.calls(), 1'500'000.0, 0.0, with(20'000.0, 2'000.0));
  EXPECT_TRUE(slower.counts().empty());
  EXPECT_DOUBLE_EQ(timing.best_us, 1'500'000.0);
  EXPECT_FALSE(timing.cut_short);
}

TEST(TimingLoop, AClearlySlowCandidateStopsAfterOneRepeat) {
  FakeKernel kernel({30.0});
  const auto timing = time_kernel(kernel, kernel.calls(), 31.0, 10.0, kUsual);
  EXPECT_TRUE(timing.cut_short);
  EXPECT_EQ(timing.repeats, 1);
  EXPECT_DOUBLE_EQ(timing.best_us, 30.0);
}

TEST(TimingLoop, ACloseCandidateIsNotCut) {
  FakeKernel kernel({29.0});
  const auto timing = time_kernel(kernel, kernel.calls(), 500.0, 10.0, kUsual);
  EXPECT_FALSE(timing.cut_short);
  EXPECT_GE(timing.repeats, 3);
}

TEST(TimingLoop, AHopelessFirstCallIsTheOnlyOne) {
  FakeKernel kernel({1.0});
  const auto timing = time_kernel(kernel, kernel.calls(), 9'000.0, 1'000.0, kUsual);
  EXPECT_TRUE(timing.cut_short);
  EXPECT_DOUBLE_EQ(timing.best_us, 9'000.0);
  EXPECT_TRUE(kernel.counts().empty());
}

TEST(TimingLoop, SummarizesVariation) {
  const auto timing = summarize({1.0, 3.0}, 7);
  EXPECT_DOUBLE_EQ(timing.cv, 0.5);
  EXPECT_DOUBLE_EQ(timing.median_us, 2.0);
  EXPECT_EQ(timing.calls_per_repeat, 7);
}

}  // namespace
}  // namespace attune::probe
