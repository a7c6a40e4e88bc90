#include <gtest/gtest.h>

#include <cmath>

#include "tuner/cost_model/examples_testing.h"
#include "tuner/cost_model/history.h"
#include "tuner/cost_model/learner.h"
#include "tuner/features/features.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::cost_model {
namespace {

constexpr auto kRelation = features::Kind::Relation;

// Packed operands make products of all shapes faster, which the analytic prediction does not know.
double truth_us(const space::Space& space, const space::Point& p) {
  const auto rows = static_cast<double>(space.knobs(0)[0].choices[p.choices[0]].numbers[0]);
  return 100 * std::pow(rows, -0.3) * (p.choices[3] == 1 ? 0.6 : 1.0);
}
double predicted_us(const space::Space& space, const space::Point& p) {
  const auto rows = static_cast<double>(space.knobs(0)[0].choices[p.choices[0]].numbers[0]);
  return 40 * std::pow(rows, -0.3);
}

std::vector<space::Candidate> examples_of(const space::Space& space, std::size_t count,
                                          std::uint64_t seed) {
  return random_examples(space, count, seed, predicted_us, truth_us);
}

History::Group group_of(const space::Space& space, bool misleading) {
  History::Group group;
  group.width = features::width(kRelation);
  const auto examples = examples_of(space, 120, 5);
  for (const space::Candidate& e : examples) {
    group.features.resize(group.features.size() + group.width);
    const std::span<float> out(&group.features[group.features.size() - group.width], group.width);
    features::extract(kRelation, *space.schedule_of(*e.point), space.target(), out);
    const double analytic = std::log(e.predicted_us / 10);
    const double log_us = std::log(*e.time_us);
    group.log_ratio.push_back(static_cast<float>(misleading ? 2 * analytic - log_us : log_us));
    group.analytic.push_back(static_cast<float>(analytic));
  }
  return group;
}

double pair_accuracy(const Learner& learner, const std::vector<space::Candidate>& points) {
  return cost_model::pair_accuracy(scores_of(learner, points), points);
}

class Transfer : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Learner> make(const History* history) {
    auto made = make_learner({.name = GetParam()}, space_, history);
    CHECK(made.ok(), made.error().message);
    return std::move(*made);
  }
  space::TemplateSpace space_ = space::sample_space(48, 64, 96);
  std::vector<space::Candidate> unseen_ = examples_of(space_, 100, 3);
};

TEST_P(Transfer, OtherShapesTeachBeforeTheFirstTrial) {
  History history;
  history.add(group_of(space::sample_space(64, 96, 64), false));
  history.add(group_of(space::sample_space(32, 128, 48), false));
  EXPECT_LT(pair_accuracy(*make(nullptr), unseen_), 0.75);
  EXPECT_GT(pair_accuracy(*make(&history), unseen_), 0.95);
}

TEST_P(Transfer, MisleadingHistoryIsUnlearnt) {
  History history;
  history.add(group_of(space::sample_space(64, 96, 64), true));
  const auto learner = make(&history);
  EXPECT_LT(pair_accuracy(*learner, unseen_), 0.6);
  learner->fit(examples_of(space_, 48, 2));
  EXPECT_GT(pair_accuracy(*learner, unseen_), 0.93);
}

TEST_P(Transfer, HistoryOfAnotherWidthIsLeftAlone) {
  History history;
  history.add(group_of(space::sample_space(64, 96, 64), false));
  auto group = history.groups()[0];
  group.width = 2;
  group.features.resize(2 * group.log_ratio.size());
  History narrow;
  narrow.add(group);
  EXPECT_EQ(pair_accuracy(*make(&narrow), unseen_), pair_accuracy(*make(nullptr), unseen_));
}

INSTANTIATE_TEST_SUITE_P(Learners, Transfer,
                         testing::Values("gp", "xgb-rank", "xgb-regression", "treegru-rank"),
                         [](const auto& i) {
                           return i.param.substr(0, 2) + i.param.substr(i.param.size() - 2);
                         });

}  // namespace
}  // namespace attune::cost_model
