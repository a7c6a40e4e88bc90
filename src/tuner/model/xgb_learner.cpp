#include "tuner/model/xgb_learner.h"

#include <algorithm>
#include <cmath>

#include "tuner/model/training_set.h"

namespace attune::model {
namespace {

constexpr std::size_t kMostLessons = 768;
// Differences below this are noise: such examples count as equal.
constexpr double kNoise = 0.01;
// Margin of the rank objective per unit of log time: a tenth makes the order nearly certain.
constexpr double kRankScale = 10;

BoostOptions options_for(Objective objective, std::uint64_t seed) {
  BoostOptions options;
  options.objective = objective;
  options.seed = seed;
  return options;
}

}  // namespace

double XgbLearner::raw_score(const space::Point& point, double predicted_us) const {
  const double prior = parts_.prior->log_us(point, predicted_us, trust_);
  const double learnt =
      static_cast<double>(trees_.predict(parts_.features->row(point, predicted_us)));
  return parts_.objective == Objective::Rank ? prior - learnt / kRankScale : prior + learnt;
}

void XgbLearner::fit(std::span<const Example> examples) {
  trees_ = {};
  offset_ = 0;
  slope_ = 1;
  const auto lessons = lessons_of(examples, kMostLessons);
  trust_ = parts_.prior->trust(lessons);
  fitted_ = lessons.size() >= 2;
  if (!fitted_) return;
  const bool rank = parts_.objective == Objective::Rank;
  const std::size_t width = parts_.features->width() - (parts_.analytic_feature ? 0 : 1);
  std::vector<double> priors;
  double mean_error = 0;  // of the prior
  for (const Lesson& lesson : lessons) {
    priors.push_back(
        parts_.prior->log_us(lesson.example->point, lesson.example->predicted_us, trust_));
    mean_error += (lesson.log_us - priors.back()) / static_cast<double>(lessons.size());
  }
  std::vector<float> features, labels, margins;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const Lesson& lesson = lessons[i];
    const float* row = parts_.features->row(lesson.example->point, lesson.example->predicted_us);
    features.insert(features.end(), row, row + width);
    const double label =
        rank ? -std::round(lesson.log_us / kNoise) : lesson.log_us - priors[i] - mean_error;
    labels.push_back(static_cast<float>(label));
    if (rank) margins.push_back(static_cast<float>(-kRankScale * (priors[i] - priors[0])));
  }
  trees_ = BoostedTrees::train({width, features, labels, margins, {}},
                               options_for(parts_.objective, parts_.seed));
  if (!rank) {
    offset_ = mean_error;
    return;
  }
  calibrate(examples);
}

// The line of least squares through (raw score, log time) of all that ran.
void XgbLearner::calibrate(std::span<const Example> examples) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Example& example : examples) {
    if (!example.measured_us) continue;
    const double raw = raw_score(example.point, example.predicted_us);
    const double log_us = log_time(*example.measured_us);
    n += 1, x += raw, y += log_us, xx += raw * raw, xy += raw * log_us;
  }
  const double spread = n * xx - x * x;
  slope_ = spread > 1e-9 ? std::clamp((n * xy - x * y) / spread, 0.02, 5.0) : 1.0;
  offset_ = (y - slope_ * x) / n;
}

void XgbLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i];
    scores[i] = fitted_ ? offset_ + slope_ * raw_score(*query.point, query.predicted_us)
                        : parts_.prior->log_us(*query.point, query.predicted_us, trust_);
  }
}

}  // namespace attune::model
