#include "tuner/whole_model/contest/race.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "base/rng.h"
#include "tuner/whole_model/contest/standings.h"
#include "tuner/whole_model/contest/time_limit.h"

namespace attune::whole_model {
namespace {

// Time goes by while runners take their turns.
class TurnClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return ns_; }
  void pass(double seconds) { ns_ += static_cast<std::int64_t>(seconds * 1e9); }

 private:
  std::int64_t ns_ = 0;
};

// A machine with many cores that others use too: it is slower for a while and then faster again,
// and now and then a turn is disturbed.
class Noise {
 public:
  Noise(std::uint64_t seed, double spread) : rng_(seed), spread_(spread) {}

  double slowdown() {
    mood_ += 0.1 * spread_ * (rng_.uniform() - 0.5);
    const double disturbed = rng_.uniform() < 0.2 ? 3 * spread_ * rng_.uniform() : 0;
    return std::exp(mood_ + spread_ * (rng_.uniform() - 0.5)) * (1 + disturbed);
  }

 private:
  Rng rng_;
  double spread_;
  double mood_ = 0;
};

struct Run {
  RaceResult result = {};
  double seconds = 0;
};

Run race_of(const std::vector<double>& true_ms, std::uint64_t seed, double spread) {
  TurnClock clock;
  Noise noise(seed, spread);
  const Turns turns{.runners = true_ms.size(),
                    .take = [&](std::size_t runner, double seconds) -> Result<double> {
                      clock.pass(seconds);
                      return true_ms[runner] * noise.slowdown();
                    }};
  Run run;
  run.result = race_in_turns(turns, clock, {}).value();
  run.seconds = seconds_between(0, clock.now_ns());
  return run;
}

constexpr int kSeeds = 200;

// How often each wins.
std::vector<int> wins_of(const std::vector<double>& true_ms, double spread) {
  std::vector<int> wins(true_ms.size());
  for (int seed = 0; seed < kSeeds; ++seed) {
    ++wins[race_of(true_ms, static_cast<std::uint64_t>(seed), spread).result.winner];
  }
  return wins;
}

TEST(Race, NoiseDoesNotMakeASlowerOneWin) {
  for (const double spread : {0.02, 0.1, 0.3}) {
    EXPECT_EQ(wins_of({7.5, 8.2}, spread)[0], kSeeds) << spread;
    EXPECT_GE(wins_of({7.5, 7.6, 7.7, 7.6}, spread)[0], kSeeds - 2) << spread;
  }
}

TEST(Race, TiesGoToTheFirst) {
  for (const double spread : {0.02, 0.1, 0.3}) {
    EXPECT_GE(wins_of({5, 5}, spread)[0], kSeeds * 95 / 100) << spread;
  }
}

TEST(Race, AFasterOneWins) {
  EXPECT_EQ(wins_of({8, 7}, 0.02)[1], kSeeds);
  EXPECT_GE(wins_of({8, 7}, 0.1)[1], kSeeds - 2);
  EXPECT_GE(wins_of({8, 6}, 0.3)[1], kSeeds * 9 / 10);
  EXPECT_GE(wins_of({8, 7, 6, 7}, 0.1)[2], kSeeds - 2);
}

TEST(Race, TakesMoreTurnsWhileItIsOpenAndFewWhenItIsNot) {
  EXPECT_LT(race_of({8, 6}, 1, 0.02).seconds, 1);
  EXPECT_LE(race_of({5, 5}, 1, 0.002).seconds, 3.1);
  const double open = race_of({5, 5}, 1, 0.3).seconds;
  EXPECT_GT(open, 3.1);
  EXPECT_LE(open, 6.2);
  EXPECT_NEAR(race_of({5}, 1, 0.3).seconds, 3, 0.2);
}

// Runners whose calls are longer than a turn; a disturbed one takes twice as long.
struct SlowRun {
  RaceResult result = {};
  std::vector<int> turns = {};
  double seconds = 0;
};

SlowRun slow_race(const std::vector<double>& true_seconds,
                  const std::function<double(std::size_t runner, int round)>& slowdown,
                  double promised = 1) {
  TurnClock clock;
  SlowRun run{.turns = std::vector<int>(true_seconds.size())};
  const Turns turns{
      .runners = true_seconds.size(), .take = [&](std::size_t runner, double) -> Result<double> {
        const double seconds = true_seconds[runner] * slowdown(runner, run.turns[runner]++);
        clock.pass(seconds);
        return seconds * 1e3;
      }};
  run.result = race_in_turns(turns, clock, {.promised = promised}).value();
  run.seconds = seconds_between(0, clock.now_ns());
  return run;
}

TEST(Race, OneDisturbedRoundDoesNotMakeASlowModelLose) {
  const auto one = [](std::size_t runner, int round) {
    return runner == 1 && round == 3 ? 2.0 : 1.0;
  };
  const SlowRun run = slow_race({0.5, 0.45}, one);
  EXPECT_EQ(run.result.winner, 1u);
  EXPECT_EQ(run.turns, (std::vector<int>{16, 16}));
}

// Neighbours slow it down in two rounds of five, too often to be sure of anything.
TEST(Race, WhatItsPartsPromiseDecidesWhatStaysOpen) {
  const auto neighbour = [](std::size_t runner, int round) {
    return runner == 1 && round % 5 < 2 ? 1.3 : 1.0;
  };
  const std::vector<double> faster{0.5, 0.45}, as_fast{0.5, 0.5};
  EXPECT_EQ(slow_race(faster, neighbour).result.winner, 0u);
  EXPECT_EQ(slow_race(faster, neighbour, 0.9).result.winner, 1u);
  EXPECT_EQ(slow_race(faster, neighbour, 0.99).result.winner, 0u);
  EXPECT_EQ(slow_race(as_fast, neighbour, 0.9).result.winner, 0u);
  const auto none = [](std::size_t, int) { return 1.0; };
  EXPECT_EQ(slow_race({0.5, 0.55}, none, 0.9).result.winner, 0u);
}

TEST(Race, ASlowModelThatIsDecidedTakesNoMoreRoundsThanItMust) {
  const SlowRun run = slow_race({0.5, 0.45}, [](std::size_t, int) { return 1.0; });
  EXPECT_EQ(run.result.winner, 1u);
  EXPECT_EQ(run.turns, (std::vector<int>{8, 8}));
}

TEST(Race, WhatStaysOpenEndsAfterEnoughRoundsOrSeconds) {
  const auto even = [](std::size_t runner, int round) {
    return (round + static_cast<int>(runner)) % 2 == 0 ? 1.1 : 1.0;
  };
  const SlowRun rounds = slow_race({0.5, 0.5}, even);
  EXPECT_EQ(rounds.result.winner, 0u);
  EXPECT_EQ(rounds.turns, (std::vector<int>{24, 24}));
  const SlowRun seconds = slow_race({1, 1}, even);
  EXPECT_EQ(seconds.result.winner, 0u);
  EXPECT_NEAR(seconds.seconds, 30, 2.2);
  const SlowRun least = slow_race({10, 10}, even);
  EXPECT_EQ(least.turns, (std::vector<int>{8, 8}));
}

TEST(Race, AShortRunIsNotFollowedByALongRace) {
  struct Row {
    double tuning, seconds, open;
  };
  for (const Row& row : {Row{0, 1, 1}, {30, 1, 1}, {60, 1.8, 1.8}, {150, 3, 4.5}, {600, 3, 6}}) {
    EXPECT_DOUBLE_EQ(race_behind(row.tuning).seconds, row.seconds) << row.tuning;
    EXPECT_DOUBLE_EQ(race_behind(row.tuning).open_seconds, row.open) << row.tuning;
  }
}

// Who is beaten costs no more turns while others are still close to each other.
TEST(Race, TheBeatenTakeNoMoreTurns) {
  TurnClock clock;
  Noise noise(3, 0.1);
  const std::vector<double> true_ms{20, 8, 8.01};
  std::vector<int> taken(3);
  const Turns turns{.runners = 3,
                    .take = [&](std::size_t runner, double seconds) -> Result<double> {
                      clock.pass(seconds);
                      ++taken[runner];
                      return true_ms[runner] * noise.slowdown();
                    }};
  EXPECT_NE(race_in_turns(turns, clock, {}).value().winner, 0u);
  EXPECT_EQ(taken[0], 16);
  EXPECT_GT(taken[1], 16);
  EXPECT_EQ(taken[1], taken[2]);
}

TEST(Race, CountedTimesNeedNoRounds) {
  TurnClock clock;
  int taken = 0;
  const Turns turns{.runners = 2,
                    .take = [&](std::size_t runner, double) -> Result<double> {
                      ++taken;
                      return runner == 0 ? 5.0 : 4.999;
                    },
                    .exact = [] { return true; }};
  EXPECT_EQ(race_in_turns(turns, clock, {}).value().winner, 1u);
  EXPECT_EQ(taken, 2);
}

TEST(Race, AnErrorEndsIt) {
  const Turns turns{.runners = 2, .take = [](std::size_t, double) -> Result<double> {
                      return unsupported("no");
                    }};
  EXPECT_EQ(race_in_turns(turns, TurnClock(), {}).error().message, "no");
}

TEST(MedianInterval, NarrowsWithWhatIsKnown) {
  EXPECT_EQ(median_interval({1, 2, 3}).high, std::numeric_limits<double>::infinity());
  const Interval eight = median_interval({8, 1, 7, 2, 6, 3, 5, 4});
  EXPECT_EQ(eight.low, 1);
  EXPECT_EQ(eight.high, 8);
  std::vector<double> many;
  for (int i = 1; i <= 100; ++i) many.push_back(i);
  EXPECT_EQ(median_interval(many).low, 38);
  EXPECT_EQ(median_interval(many).high, 63);
}

TEST(StandingOf, GoesByTheRatiosOfRounds) {
  // Both are slow when the machine is.
  const std::vector<double> one{1, 2, 4, 8, 1, 2, 4, 8},
      other{1.1, 2.2, 4.3, 8.9, 1.1, 2.1, 4.4, 9};
  EXPECT_EQ(standing_of(one, other), Standing::Faster);
  EXPECT_EQ(standing_of(other, one), Standing::Slower);
  EXPECT_EQ(standing_of(one, one), Standing::AsFast);
  // By the rounds that both were in.
  EXPECT_EQ(standing_of(one, std::span(other).first(6)), Standing::Open);
  const std::vector<double> mixed{1.1, 2.2, 4.3, 8.9, 0.9, 2.1, 4.4, 9};
  EXPECT_EQ(standing_of(one, mixed), Standing::Open);
}

// Loading and slow models included, but no hour for one that hangs.
TEST(Race, HasALimitThatFollowsFromItsBudget) {
  EXPECT_EQ(time_limit(6, 2), 1020);
  EXPECT_EQ(time_limit(1, 1), 460);
}

}  // namespace
}  // namespace attune::whole_model
