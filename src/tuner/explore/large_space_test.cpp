#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/explore/explorer.h"
#include "tuner/explore/knobs_space_testing.h"

namespace attune::explore {
namespace {

class FlatModel : public cost_model::CostModel {
 public:
  double predict_us(const space::Scheduled&) const override { return 100; }
};

std::vector<space::Candidate> measure(std::vector<space::Candidate> batch) {
  for (space::Candidate& p : batch) p.time_us = knobs_cost_us(*p.point);
  return batch;
}

struct Searched {
  double best_us = std::numeric_limits<double>::infinity();
  std::size_t trials = 0;
  std::vector<std::string> changes = {};
};

// Rounds of an explorer that is made again from its changes now and then.
Searched search(const SearchOptions& options, const KnobsSpace& space, std::size_t trials,
                std::size_t batch_size) {
  const FlatModel model;
  const auto make = [&] { return std::move(make_explorer(options, {space, model})).value(); };
  auto explorer = make();
  Hashes known;
  Searched run;
  for (std::uint64_t round = 0; run.trials < trials; ++round) {
    Rng rng(round);
    const auto batch = explorer->select(batch_size, known, rng);
    if (batch.empty()) break;
    for (const space::Candidate& p : batch) {
      EXPECT_TRUE(known.insert(p.trace_hash).second) << "proposed twice";
      run.best_us = std::min(run.best_us, knobs_cost_us(*p.point));
    }
    run.trials += batch.size();
    explorer->update(measure(batch));
    run.changes.push_back(explorer->changes());
    if (round % 4 != 3) continue;
    explorer = make();
    EXPECT_TRUE(explorer->restore(run.changes).ok());
  }
  return run;
}

TEST(LargeSpaces, ChangesAreAsLargeAsARoundAndNothingIsRepeated) {
  const KnobsSpace space(4, 16);
  for (const char* name : {"random", "genetic", "grid"}) {
    const Searched run = search({.explorer = name}, space, 20'000, 1000);
    EXPECT_GE(run.trials, 20'000u) << name;
    EXPECT_LT(run.changes.back().size(), run.changes.front().size() * 3 / 2) << name;
    EXPECT_LT(run.changes.back().size(), 150'000u) << name;
  }
}

TEST(LargeSpaces, ChainsWalkToTheOptimum) {
  const KnobsSpace space(6, 8);
  EXPECT_NEAR(search({}, space, 200, 16).best_us, 100, 1e-9);
  EXPECT_GT(search({.explorer = "random"}, space, 200, 16).best_us, 120);
}

TEST(LargeSpaces, GenerationsImprove) {
  const KnobsSpace space(6, 8);
  const Searched genetic = search({.explorer = "genetic"}, space, 1000, 25);
  const Searched random = search({.explorer = "random"}, space, 1000, 25);
  EXPECT_LT(genetic.best_us, 125);
  EXPECT_LT(genetic.best_us, random.best_us);
}

TEST(LargeSpaces, TheGridGoesInOrder) {
  const KnobsSpace space(3, 4);
  const FlatModel model;
  const auto grid = std::move(make_explorer({.explorer = "grid"}, {space, model})).value();
  Rng rng(1);
  const auto batch = grid->select(10, {}, rng);
  for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(space.index_of(*batch[i].point), i);
}

TEST(LargeSpaces, WithoutDefaultsTheFirstBatchIsFree) {
  const KnobsSpace space(6, 8);
  const FlatModel model;
  for (const char* name : {"random", "genetic", "annealing"}) {
    const auto explorer =
        std::move(make_explorer({.explorer = name, .defaults_first = false}, {space, model}))
            .value();
    Rng rng(1);
    for (const space::Candidate& p : explorer->select(8, {}, rng)) {
      EXPECT_NE(p.point, space.defaults()[0]) << name;
    }
  }
}

// A search that another one went before, with all but the best of what it found.
TEST(LargeSpaces, WhatOthersTriedIsLearntFromByItsTraces) {
  const KnobsSpace space(6, 8);
  const FlatModel model;
  const auto make = [&] { return std::move(make_explorer({}, {space, model})).value(); };
  const auto before = make();
  std::vector<space::Candidate> tried;
  for (std::uint64_t round = 0; round < 12; ++round) {
    Rng rng(round);
    auto batch = before->select(16, {}, rng);
    before->update(measure(batch));
    for (space::Candidate& each : batch) {
      if (knobs_cost_us(*each.point) > 140) tried.push_back(std::move(each));
    }
  }
  ASSERT_GT(tried.size(), 64u);
  const auto first_batch = [&](Explorer& explorer) {
    Rng rng(99);
    return explorer.select(16, {}, rng);
  };
  const auto best_of = [](const std::vector<space::Candidate>& batch) {
    double best = std::numeric_limits<double>::infinity();
    for (const space::Candidate& each : batch) best = std::min(best, knobs_cost_us(*each.point));
    return best;
  };
  tried = measure(std::move(tried));
  for (space::Candidate& each : tried) each.point.reset();  // as they come from records
  const auto ignorant = make();
  const auto told = make();
  told->update(tried);
  const auto loaded = make();
  ASSERT_TRUE(loaded->restore(std::vector{told->changes()}).ok());
  const auto batch = first_batch(*told), again = first_batch(*loaded);
  EXPECT_LT(best_of(batch), 0.8 * best_of(first_batch(*ignorant)));
  ASSERT_EQ(batch.size(), again.size());
  for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(batch[i].point, again[i].point);
  // What has no point is of no use, and does no harm.
  const schedule::Trace foreign = {schedule::Unroll{"output", "i"}};
  const space::Candidate other{
      .trace = foreign, .trace_hash = schedule::hash(foreign), .time_us = 1.0};
  told->update({&other, 1});
}

// The same decisions whether chains were kept in memory or in text.
TEST(LargeSpaces, ChainsGoOnAfterLoading) {
  const KnobsSpace space(6, 8);
  const FlatModel model;
  const auto make = [&] { return std::move(make_explorer({}, {space, model})).value(); };
  auto one = make(), other = make();
  std::vector<std::string> changes;
  for (std::uint64_t round = 0; round < 4; ++round) {
    Rng rng(round), same(round);
    const auto batch = one->select(8, {}, rng), again = other->select(8, {}, same);
    ASSERT_EQ(batch.size(), again.size());
    for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(batch[i].point, again[i].point);
    one->update(measure(batch));
    other->update(measure(batch));
    auto loaded = make();
    changes.push_back(other->changes());
    ASSERT_TRUE(loaded->restore(changes).ok());
    other = std::move(loaded);
  }
}

}  // namespace
}  // namespace attune::explore
