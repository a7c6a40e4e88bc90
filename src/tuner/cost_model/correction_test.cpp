#include "tuner/cost_model/correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/space/sample_template_testing.h"

namespace attune::cost_model {
namespace {

// A truth with two main effects.
double truth(const space::Point& p) {
  return 0.5 + 0.3 * (p.choices[3] == 1 ? 1 : -1) + 0.1 * p.choices[1];
}

TEST(Correction, KnowsNothingAtFirst) {
  const auto space = space::sample_space();
  const Correction correction(space);
  EXPECT_EQ(correction.mean(space.point_at(3)), 0);
  EXPECT_GT(correction.deviation(space.point_at(3)), 0.1);
}

TEST(Correction, LearnsMainEffectsFromFewPoints) {
  const auto space = space::sample_space();
  Correction correction(space);
  Rng rng(7);
  std::vector<Residual> some;
  for (int i = 0; i < 24; ++i) {
    const auto point = space.sample(rng);
    some.push_back({point, truth(point)});
  }
  correction.fit(some);
  double squared = 0, spread = 0;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const auto point = space.point_at(i);
    squared += std::pow(correction.mean(point) - truth(point), 2);
    spread += std::pow(truth(point) - 0.7, 2);
  }
  EXPECT_LT(squared, 0.1 * spread);
  EXPECT_LT(correction.deviation(some[0].point), 0.1);
}

TEST(Correction, RepeatedPointsAreNoTrouble) {
  const auto space = space::sample_space();
  Correction correction(space);
  correction.fit(std::vector<Residual>(50, {space.point_at(5), 0.25}));
  EXPECT_NEAR(correction.mean(space.point_at(5)), 0.25, 0.02);
}

}  // namespace
}  // namespace attune::cost_model
