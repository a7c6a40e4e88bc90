#include "compiler/graph/layouts/labelling.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace attune::graph {
namespace {

double random_cost(Rng& rng) { return static_cast<double>(rng.below(100)); }

Labelling random_labelling(std::size_t nodes, std::size_t labels, Rng& rng) {
  Labelling labelling;
  for (std::size_t i = 0; i < nodes; ++i) {
    labelling.costs.emplace_back();
    for (std::size_t j = 0; j < labels; ++j) labelling.costs.back().push_back(random_cost(rng));
  }
  return labelling;
}

void connect(Labelling& labelling, std::size_t a, std::size_t b, Rng& rng) {
  std::vector<double> costs(labelling.costs[a].size() * labelling.costs[b].size());
  for (double& cost : costs) cost = random_cost(rng);
  labelling.edges.push_back({a, b, std::move(costs)});
}

double least_cost(const Labelling& labelling) {
  std::vector<std::size_t> labels(labelling.costs.size(), 0);
  double best = cost_of(labelling, labels);
  while (true) {
    std::size_t node = 0;
    while (node < labels.size() && ++labels[node] == labelling.costs[node].size())
      labels[node++] = 0;
    if (node == labels.size()) return best;
    best = std::min(best, cost_of(labelling, labels));
  }
}

TEST(CheapestLabels, AreExactOnChainsWithSkips) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    Labelling labelling = random_labelling(8, 3, rng);
    for (std::size_t i = 1; i < 8; ++i) connect(labelling, i - 1, i, rng);
    connect(labelling, 0, 3, rng);  // residual connections
    connect(labelling, 4, 7, rng);
    EXPECT_EQ(cost_of(labelling, cheapest_labels(labelling)), least_cost(labelling));
  }
}

TEST(CheapestLabels, AreNearTheLeastOnDenseGraphs) {
  double found = 0, least = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    Labelling labelling = random_labelling(7, 2, rng);
    for (std::size_t a = 0; a < 7; ++a) {
      for (std::size_t b = a + 1; b < 7; ++b) connect(labelling, a, b, rng);
    }
    found += cost_of(labelling, cheapest_labels(labelling));
    least += least_cost(labelling);
  }
  EXPECT_LT(found, 1.08 * least);
}

TEST(CheapestLabels, ParallelEdgesAddUp) {
  Labelling labelling{{{0, 5}, {5, 0}}, {}};
  labelling.edges.push_back({0, 1, {0, 3, 3, 0}});
  labelling.edges.push_back({1, 0, {0, 3, 3, 0}});
  const auto labels = cheapest_labels(labelling);
  EXPECT_EQ(labels[0], labels[1]);
}

}  // namespace
}  // namespace attune::graph
