#include "tuner/cost_model/tree_gru.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace attune::cost_model {
namespace {

constexpr std::size_t kWidth = 5;

// Chains and forks of a few loops with random numbers.
features::LoopTree random_tree(Rng& rng) {
  features::LoopTree tree;
  const std::size_t nodes = 3 + rng.below(5);
  for (std::size_t n = 0; n < nodes; ++n) {
    tree.parent.push_back(
        n == 0 ? -1 : static_cast<int>(n - 1 - rng.below(std::min<std::size_t>(n, 2))));
    for (std::size_t i = 0; i < kWidth; ++i) {
      tree.context.push_back(n == 0 ? 0 : static_cast<float>(4 * rng.uniform() - 1));
    }
  }
  return tree;
}

// Loops count for more the deeper they lie: what a sum over loops cannot tell.
float truth(const features::LoopTree& tree) {
  std::vector<int> depth(tree.size(), 0);
  float sum = 0;
  for (std::size_t n = 1; n < tree.size(); ++n) {
    depth[n] = depth[static_cast<std::size_t>(tree.parent[n])] + 1;
    sum += 0.2f * static_cast<float>(depth[n]) * tree.context[n * kWidth];
  }
  return sum;
}

struct Samples {
  std::vector<features::LoopTree> trees;
  std::vector<TreeSample> samples;
  Samples(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t i = 0; i < count; ++i) trees.push_back(random_tree(rng));
    for (const auto& tree : trees) samples.push_back({&tree, truth(tree), 0});
  }
};

std::vector<double> outputs_of(const TreeGru& network, const Samples& samples) {
  std::vector<const features::LoopTree*> trees;
  for (const auto& tree : samples.trees) trees.push_back(&tree);
  std::vector<double> outputs(trees.size());
  network.predict(trees, outputs);
  return outputs;
}

double pair_accuracy(const std::vector<double>& outputs, const Samples& samples) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j, pairs += 1) {
      const bool more = samples.samples[i].label > samples.samples[j].label;
      right += (outputs[i] > outputs[j]) == more ? 1 : 0;
    }
  }
  return right / pairs;
}

class TreeGruObjective : public testing::TestWithParam<Objective> {};

TEST_P(TreeGruObjective, GradientsAgreeWithDifferences) {
  Samples some(6, 3);
  for (std::size_t i = 0; i < 6; ++i) some.samples[i].margin = 0.1f * static_cast<float>(i);
  TreeGru network(kWidth, 9);
  std::vector<float> gradient;
  network.loss(some.samples, GetParam(), &gradient);
  Rng rng(4);
  double squares = 0, difference = 0;
  for (int i = 0; i < 400; ++i) {
    float& parameter = network.parameters()[rng.below(gradient.size())];
    const auto at = static_cast<std::size_t>(&parameter - network.parameters().data());
    const float before = parameter, step = 5e-3f;
    parameter = before + step;
    const double up = network.loss(some.samples, GetParam(), nullptr);
    parameter = before - step;
    const double down = network.loss(some.samples, GetParam(), nullptr);
    parameter = before;
    const double expected = (up - down) / (2 * static_cast<double>(step));
    squares += expected * expected;
    difference += std::pow(expected - static_cast<double>(gradient[at]), 2);
    EXPECT_NEAR(static_cast<double>(gradient[at]), expected, 2e-3 + 0.02 * std::abs(expected))
        << "parameter " << at;
  }
  EXPECT_GT(squares, 1e-3);
  EXPECT_LT(std::sqrt(difference / squares), 0.01);
}

TEST_P(TreeGruObjective, PutsUnseenTreesInOrder) {
  const Samples seen(256, 1), unseen(100, 2);
  TreeGru network(kWidth, 7);
  network.train(seen.samples, GetParam());
  EXPECT_GT(pair_accuracy(outputs_of(network, unseen), unseen), 0.9);
}

TEST_P(TreeGruObjective, SameSeedSameNetwork) {
  const Samples seen(64, 1), other(64, 5);
  TreeGru one(kWidth, 7), two(kWidth, 7);
  one.train(other.samples, GetParam());  // forgotten by the next
  one.train(seen.samples, GetParam());
  two.train(seen.samples, GetParam());
  EXPECT_EQ(outputs_of(one, seen), outputs_of(two, seen));
}

INSTANTIATE_TEST_SUITE_P(TreeGru, TreeGruObjective,
                         testing::Values(Objective::Rank, Objective::Regression),
                         [](const auto& i) {
                           return i.param == Objective::Rank ? "rank" : "regression";
                         });

TEST(TreeGru, MarginsAreWhatIsKnownAlready) {
  Samples seen(64, 1);
  for (TreeSample& sample : seen.samples) sample.margin = sample.label - 0.5f;
  TreeGru network(kWidth, 7);
  network.train(seen.samples, Objective::Regression);
  double mean = 0, squares = 0;
  for (double output : outputs_of(network, seen)) {
    mean += output / 64;
    squares += (output - 0.5) * (output - 0.5) / 64;
  }
  EXPECT_NEAR(mean, 0.5, 0.05);
  EXPECT_LT(std::sqrt(squares), 0.2);
}

}  // namespace
}  // namespace attune::cost_model
