#include "tuner/cost_model/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace attune::cost_model {
namespace {

// Rows of which the third feature never changes, and a truth with an interaction.
struct Table {
  std::vector<float> features, labels;
  explicit Table(std::size_t rows, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto a = static_cast<float>(rng.uniform()), b = static_cast<float>(rng.below(4));
      features.insert(features.end(), {b, a, 7});
      labels.push_back(2 * a + (b > 1 ? 1.0f : 0.0f) - (b > 2 && a > 0.5f ? 1.5f : 0.0f));
    }
  }
  TrainingRows rows() const { return {3, features, labels, {}, {}}; }
};

double pair_accuracy(const BoostedTrees& trees, const Table& table) {
  int right = 0, pairs = 0;
  for (std::size_t i = 0; i < table.labels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (table.labels[i] == table.labels[j]) continue;
      const bool more =
          trees.predict(&table.features[3 * i]) > trees.predict(&table.features[3 * j]);
      right += more == (table.labels[i] > table.labels[j]);
      ++pairs;
    }
  }
  return right / static_cast<double>(pairs);
}

TEST(BoostedTrees, NoTreesPredictNothing) {
  const float row[] = {1, 2, 3};
  EXPECT_EQ(BoostedTrees().predict(row), 0);
}

TEST(BoostedTrees, RegressionApproachesUnseenRows) {
  const Table seen(300, 1), unseen(200, 2);
  const auto trees = BoostedTrees::train(seen.rows(), {});
  EXPECT_EQ(trees.size(), 60u);
  double squares = 0;
  for (std::size_t i = 0; i < unseen.labels.size(); ++i) {
    const float error = trees.predict(&unseen.features[3 * i]) - unseen.labels[i];
    squares += static_cast<double>(error * error);
  }
  EXPECT_LT(std::sqrt(squares / 200), 0.15);
}

TEST(BoostedTrees, RankPutsUnseenRowsInOrder) {
  const Table seen(300, 1), unseen(100, 2);
  const auto trees = BoostedTrees::train(seen.rows(), {.objective = Objective::Rank});
  EXPECT_GT(pair_accuracy(trees, unseen), 0.93);
}

// Labels of different groups are not compared: a group that is shifted as a whole changes nothing.
TEST(BoostedTrees, RankComparesWithinGroupsOnly) {
  const Table seen(300, 1), unseen(100, 2);
  std::vector<float> shifted = seen.labels;
  for (std::size_t i = 150; i < 300; ++i) shifted[i] += 100;
  const std::vector<std::uint32_t> groups{150, 150};
  const auto trees =
      BoostedTrees::train({3, seen.features, shifted, {}, groups}, {.objective = Objective::Rank});
  EXPECT_GT(pair_accuracy(trees, unseen), 0.93);
}

TEST(BoostedTrees, MarginsAreWhatIsKnownAlready) {
  const Table seen(300, 1);
  std::vector<float> margins;
  for (float label : seen.labels) margins.push_back(label - 0.25f);
  const auto trees =
      BoostedTrees::train({3, seen.features, seen.labels, margins, {}}, {.rounds = 40});
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_NEAR(trees.predict(&seen.features[3 * i]), 0.25, 0.01);
  }
}

TEST(BoostedTrees, SameSeedSameTrees) {
  const Table seen(200, 1);
  const BoostOptions options{.objective = Objective::Rank, .column_share = 0.7, .seed = 5};
  const auto one = BoostedTrees::train(seen.rows(), options);
  const auto two = BoostedTrees::train(seen.rows(), options);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(one.predict(&seen.features[3 * i]), two.predict(&seen.features[3 * i]));
  }
}

TEST(BoostedTrees, EqualRowsTeachNothing) {
  const std::vector<float> features(30, 1), labels{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(BoostedTrees::train({3, features, labels, {}, {}}, {}).size(), 0u);
}

}  // namespace
}  // namespace attune::cost_model
