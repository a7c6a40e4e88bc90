// The search among ways of launching, on made-up times.
#include "tuner/whole_model/contest/launch_ways.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

// Moves on with every look.
class Ticking final : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  std::int64_t now_ns_ = 0;
};

class LaunchWays : public ::testing::Test {
 protected:
  // Every launch takes 10 us and gains what its way says, but early ones that follow each other
  // lose all of it.
  Result<double> time_us(const WayChoice& choice) {
    clock_.now_ns_ += 1'000'000;
    ++looks_;
    double us = 0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const bool crowded = i > 0 && choice[i] == 1 && choice[i - 1] == 1;
      us += 10 - (choice[i] == 1 ? (crowded ? -3 : 2) : choice[i] == 2 ? 1 : 0);
    }
    return us;
  }
  FoundWays search(std::vector<int> counts, double seconds) {
    const WaySearch wanted{std::move(counts), [this](const WayChoice& c) { return time_us(c); }};
    return search_ways(wanted, seconds, clock_).value();
  }

  Ticking clock_;
  int looks_ = 0;
};

TEST_F(LaunchWays, AreFoundForEachLaunch) {
  const FoundWays found = search({3, 3, 3}, 10);
  EXPECT_EQ(found.choice, (WayChoice{1, 2, 1}));
  EXPECT_EQ(found.plain_us, 30);
  EXPECT_EQ(found.us, 25);
}

TEST_F(LaunchWays, KeepToWhatALaunchHas) {
  EXPECT_EQ(search({1, 3, 1}, 10).choice, (WayChoice{0, 1, 0}));
  EXPECT_EQ(search({}, 10).choice, WayChoice{});
}

TEST_F(LaunchWays, EndWhenTimeIsUp) {
  const FoundWays found = search({3, 3, 3, 3, 3, 3}, 0.004);
  EXPECT_LT(looks_, 20);
  EXPECT_LT(found.us, found.plain_us);
}

// One look was flattering, and none of those that come after.
TEST_F(LaunchWays, ArePlainWhereNothingIsGained) {
  bool lucky = true;
  const WaySearch noise{{3, 3}, [&](const WayChoice& choice) -> Result<double> {
                          if (choice == WayChoice{0, 0}) return 10.0;
                          return std::exchange(lucky, false) ? 9.0 : 10.0;
                        }};
  const FoundWays found = search_ways(noise, 1, clock_).value();
  EXPECT_EQ(found.choice, (WayChoice{0, 0}));
  EXPECT_EQ(found.us, 10);
}

TEST_F(LaunchWays, ErrorsEndTheSearch) {
  const WaySearch broken{{3}, [](const WayChoice& choice) -> Result<double> {
                           if (choice[0] == 2) return invalid("the card is gone");
                           return 1.0;
                         }};
  EXPECT_EQ(search_ways(broken, 1, clock_).error().message, "the card is gone");
}

}  // namespace
}  // namespace attune::whole_model
