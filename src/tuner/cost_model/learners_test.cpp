#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tuner/cost_model/examples_testing.h"
#include "tuner/cost_model/learner.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::cost_model {
namespace {

// Large rows and packing are good; the analytic prediction knows the first alone, and thinks that
// more vectors help, which they do not.
double truth_us(const space::Space& space, const space::Point& p) {
  const auto rows = static_cast<double>(space.knobs(0)[0].choices[p.choices[0]].numbers[0]);
  return 100 * std::pow(rows, -0.3) * (p.choices[3] == 1 ? 0.8 : 1.0);
}
double predicted_us(const space::Space& space, const space::Point& p) {
  const auto rows = static_cast<double>(space.knobs(0)[0].choices[p.choices[0]].numbers[0]);
  return 40 * std::pow(rows, -0.3) * std::pow(0.9, p.choices[1]);
}

std::vector<space::Candidate> some_examples(const space::Space& space, std::size_t count,
                                            std::uint64_t seed) {
  return random_examples(space, count, seed, predicted_us, truth_us);
}

std::unique_ptr<Learner> make(const space::Space& space, LearnerOptions options) {
  auto made = make_learner(options, space, nullptr);
  CHECK(made.ok(), made.error().message);
  return std::move(*made);
}

class EveryLearner : public testing::TestWithParam<std::string> {};
class LearnerThatLearns : public testing::TestWithParam<std::string> {};

TEST_P(EveryLearner, StartsFromTheAnalyticPrediction) {
  const auto space = space::sample_space();
  const auto learner = make(space, {.name = GetParam()});
  const auto points = some_examples(space, 30, 3);
  const auto scores = scores_of(*learner, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(scores[i], std::log(points[i].predicted_us), 1e-5);
  }
}

TEST_P(LearnerThatLearns, PutsUnseenPointsInOrder) {
  const auto space = space::sample_space();
  const auto learner = make(space, {.name = GetParam()});
  const auto unseen = some_examples(space, 80, 3);
  const double before = pair_accuracy(scores_of(*learner, unseen), unseen);
  learner->fit(some_examples(space, 48, 2));
  const auto scores = scores_of(*learner, unseen);
  EXPECT_LT(before, 0.9);
  EXPECT_GT(pair_accuracy(scores, unseen), 0.93);
  double error = 0;  // scores are log times
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    error += std::abs(scores[i] - std::log(*unseen[i].time_us)) / 80;
  }
  EXPECT_LT(error, 0.1);
}

TEST_P(EveryLearner, IsDeterministic) {
  const auto space = space::sample_space();
  const LearnerOptions options{.name = GetParam(), .ensemble = 3, .seed = 4};
  const auto one = make(space, options), two = make(space, options);
  const auto examples = some_examples(space, 32, 2);
  one->fit(some_examples(space, 16, 9));  // forgotten by the next fit
  one->fit(examples);
  two->fit(examples);
  EXPECT_EQ(scores_of(*one, examples), scores_of(*two, examples));
  EXPECT_EQ(scores_of(*one, examples, true), scores_of(*two, examples, true));
}

TEST_P(LearnerThatLearns, FailuresCountAsWorst) {
  const auto space = space::sample_space();
  const auto learner = make(space, {.name = GetParam()});
  auto examples = some_examples(space, 64, 2);
  for (space::Candidate& e : examples) {
    if (e.point->choices[2] == 0) e.time_us.reset();
  }
  learner->fit(examples);
  const auto unseen = some_examples(space, 100, 3);
  const auto scores = scores_of(*learner, unseen);
  double bad = 0, good = 0, bads = 0;
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    const bool fails = unseen[i].point->choices[2] == 0;
    const double score = scores[i] - std::log(*unseen[i].time_us);
    (fails ? bad : good) += score;
    bads += fails ? 1 : 0;
  }
  EXPECT_GT(bad / bads, good / (100 - bads) + 0.3);
}

TEST_P(EveryLearner, TakesWhateverComes) {
  const auto space = space::sample_space();
  const auto learner = make(space, {.name = GetParam()});
  const auto points = some_examples(space, 10, 3);
  learner->fit({});
  for (double score : scores_of(*learner, points)) EXPECT_TRUE(std::isfinite(score));
  std::vector<space::Candidate> failed = some_examples(space, 5, 2);
  for (space::Candidate& e : failed) e.time_us.reset();
  learner->fit(failed);
  for (double score : scores_of(*learner, points, true)) EXPECT_TRUE(std::isfinite(score));
  learner->fit(some_examples(space, 1, 2));
  for (double score : scores_of(*learner, points)) EXPECT_TRUE(std::isfinite(score));
  learner->fit(std::vector<space::Candidate>(20, points[0]));
  for (double score : scores_of(*learner, points, true)) EXPECT_TRUE(std::isfinite(score));
}

std::vector<std::string> names(bool with_analytic) {
  std::vector<std::string> names;
  for (std::string_view name : learner_names()) {
    if (with_analytic || name != "analytic") names.emplace_back(name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner, testing::ValuesIn(names(true)), test_name);
INSTANTIATE_TEST_SUITE_P(Learners, LearnerThatLearns, testing::ValuesIn(names(false)), test_name);

TEST(Learners, EnsemblesAreUncertainWhereNothingWasSeen) {
  const auto space = space::sample_space();
  const LearnerOptions mean{.name = "xgb-regression", .acquisition = "mean", .ensemble = 5};
  LearnerOptions optimist = mean;
  optimist.acquisition = "optimism";
  const auto a = make(space, mean), b = make(space, optimist);
  auto seen = some_examples(space, 60, 2);
  std::erase_if(seen, [](const space::Candidate& e) { return e.point->choices[1] > 2; });
  a->fit(seen);
  b->fit(seen);
  const auto unseen = some_examples(space, 100, 3);
  const auto means = scores_of(*a, unseen, true), bounds = scores_of(*b, unseen, true);
  EXPECT_EQ(means, scores_of(*a, unseen));
  double gap = 0;
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    EXPECT_LE(bounds[i], means[i] + 1e-12);
    gap += means[i] - bounds[i];
  }
  EXPECT_GT(gap, 0.01);
}

TEST(Learners, AnalyticPredictionIsUsedAsAsked) {
  const auto space = space::sample_space();
  const auto points = some_examples(space, 20, 3);
  const auto without = make(space, {.name = "xgb-rank", .analytic = "none"});
  for (double score : scores_of(*without, points)) EXPECT_EQ(score, 0);
  without->fit(some_examples(space, 48, 2));
  auto queries = points;
  for (space::Candidate& e : queries) e.predicted_us *= 10;
  EXPECT_EQ(scores_of(*without, points), scores_of(*without, queries));
  const auto with = make(space, {.name = "xgb-rank", .analytic = "prior"});
  with->fit(some_examples(space, 48, 2));
  const double before = scores_of(*with, points)[0];
  EXPECT_GT(scores_of(*with, queries)[0], before + 0.5);
}

TEST(Learners, RefuseWhatTheyDoNotKnow) {
  const auto space = space::sample_space();
  const auto message = [&](const LearnerOptions& options) {
    const auto made = make_learner(options, space, nullptr);
    return made.ok() ? "" : made.error().message + "; " + made.error().hint;
  };
  EXPECT_EQ(message({.name = "xgb-rank", .features = "loops"}),
            "unknown features 'loops'; features are knob, context, relation");
  EXPECT_EQ(message({.analytic = "some"}),
            "unknown use 'some' of the analytic prediction; uses are none, feature, prior, both");
  EXPECT_EQ(message({.acquisition = "luck"}),
            "unknown acquisition 'luck'; acquisitions are mean, optimism, improvement");
}

}  // namespace
}  // namespace attune::cost_model
