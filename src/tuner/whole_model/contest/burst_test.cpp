#include "tuner/whole_model/contest/burst.h"

#include <gtest/gtest.h>

#include "tuner/whole_model/contest/race.h"

namespace attune::whole_model {
namespace {

class CallClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return ns_; }
  void pass_ms(double ms) { ns_ += static_cast<std::int64_t>(ms * 1e6); }

 private:
  std::int64_t ns_ = 0;
};

// An artifact whose calls are slower while others hold the caches, and take a part of them back.
struct Artifact {
  double alone_ms;
  double pushed_out = 0;  // by how much a first call is slower, of its time alone
  double left = 0.8;      // of that after each call
  double now = 0;

  double call_ms(CallClock& clock) {
    const double ms = alone_ms * (1 + now);
    now *= left;
    clock.pass_ms(ms);
    return ms;
  }
};

RaceResult race_of(std::vector<Artifact> artifacts) {
  CallClock clock;
  const Turns turns{.runners = artifacts.size(),
                    .take = [&](std::size_t runner, double seconds) -> Result<double> {
                      Artifact& own = artifacts[runner];
                      own.now = own.pushed_out;
                      return burst_ms([&]() -> Result<double> { return own.call_ms(clock); }, clock,
                                      seconds);
                    }};
  return race_in_turns(turns, clock, {}).value();
}

// Who reads all of its weights from the last cache when it runs alone loses more to the others than
// one that waits for memory anyway.
TEST(Burst, ArtifactsAreComparedAsTheyRunAlone) {
  const RaceResult result = race_of({{2.02, 1.5}, {2.84, 0.1}, {2.84, 0.1}, {2.9, 0.1}});
  EXPECT_EQ(result.winner, 0U);
  EXPECT_NEAR(result.latency_ms[0], 2.02, 0.06);
  EXPECT_NEAR(result.latency_ms[1], 2.84, 0.06);
  EXPECT_EQ(race_of({{2.84, 0.1}, {2.02, 1.5}, {2.9, 0.1}, {2.9, 0.1}}).winner, 1U);
}

TEST(Burst, CallsThatDoNotGetFasterAreWarmAtOnce) {
  CallClock clock;
  Artifact steady{1.0};
  EXPECT_NEAR(*burst_ms([&]() -> Result<double> { return steady.call_ms(clock); }, clock, 0.02),
              1.0, 1e-9);
  // One call, and those that count, the two that are not faster among them.
  EXPECT_NEAR(seconds_between(0, clock.now_ns()), 0.021, 0.0011);
}

// A call that takes longer than the whole turn warms up once and counts once.
TEST(Burst, LongCallsCountOnce) {
  CallClock clock;
  int calls = 0;
  Artifact slow{100.0, 0.5, 0.0, 0.5};
  const auto call = [&]() -> Result<double> {
    ++calls;
    return slow.call_ms(clock);
  };
  EXPECT_NEAR(*burst_ms(call, clock, 0.02), 100, 1e-9);
  EXPECT_EQ(calls, 2);
}

TEST(Burst, WarmingUpEndsWhereCallsNeverSettle) {
  CallClock clock;
  Artifact endless{1.0, 0, 0.98, 50};
  EXPECT_TRUE(
      burst_ms([&]() -> Result<double> { return endless.call_ms(clock); }, clock, 0.5).ok());
  EXPECT_LT(seconds_between(0, clock.now_ns()), 0.5 * (kWarmUpTurns + 1) + 0.1);
}

// A disturbed call does not end it, nor do two of them as far as the fastest is reached again.
TEST(Burst, OneDisturbedCallDoesNotEndTheWarmUp) {
  WarmUp warm_up;
  for (const double ms : {5.0, 4.0, 4.5, 3.0}) {
    warm_up.add(ms);
    EXPECT_FALSE(warm_up.settled()) << ms;
  }
  warm_up.add(3.0);
  EXPECT_FALSE(warm_up.settled());
  warm_up.add(2.99);
  EXPECT_TRUE(warm_up.settled());
}

TEST(Burst, AnErrorEndsIt) {
  const auto call = []() -> Result<double> { return unsupported("no"); };
  EXPECT_EQ(burst_ms(call, CallClock(), 1).error().message, "no");
}

}  // namespace
}  // namespace attune::whole_model
