#include "tuner/cost_model/residual_learner.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {
namespace {

// Differences below this are noise: such examples count as equal.
constexpr double kNoise = 0.01;
// Margin of the rank objective per unit of log time: a tenth makes the order nearly certain.
constexpr double kRankScale = 10;

}  // namespace

void ResidualLearner::fit(std::span<const space::Candidate> tried) {
  offset_ = 0;
  slope_ = 1;
  const auto lessons = lessons_of(tried, most_lessons_);
  trust_ = prior_->trust(lessons);
  fitted_ = lessons.size() >= 2;
  if (!fitted_) return;
  const bool rank = objective_ == Objective::Rank;
  std::vector<double> priors;
  double mean_error = 0;  // of the prior
  for (const Lesson& lesson : lessons) {
    const space::Candidate& candidate = *lesson.candidate;
    priors.push_back(prior_->log_us(*candidate.point, candidate.predicted_us, trust_));
    mean_error += (lesson.log_us - priors.back()) / static_cast<double>(lessons.size());
  }
  std::vector<float> labels, margins;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const double log_us = lessons[i].log_us;
    const double label = rank ? -std::round(log_us / kNoise) : log_us - priors[i] - mean_error;
    labels.push_back(static_cast<float>(label));
    if (rank) margins.push_back(static_cast<float>(-kRankScale * (priors[i] - priors[0])));
  }
  train(lessons, labels, margins);
  if (rank) {
    calibrate(lessons);
  } else {
    offset_ = mean_error;
  }
}

void ResidualLearner::raw_scores(std::span<const Query> queries, std::span<double> scores) const {
  predict(queries, scores);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const double learnt = objective_ == Objective::Rank ? -scores[i] / kRankScale : scores[i];
    scores[i] = prior_->log_us(*queries[i].point, queries[i].predicted_us, trust_) + learnt;
  }
}

// The line of least squares through (raw score, log time) of all that ran.
void ResidualLearner::calibrate(std::span<const Lesson> lessons) {
  std::vector<Query> queries;
  std::vector<double> times;
  for (const Lesson& lesson : lessons) {
    if (!lesson.candidate->time_us) continue;
    queries.push_back({&*lesson.candidate->point, lesson.candidate->predicted_us});
    times.push_back(lesson.log_us);
  }
  std::vector<double> raw(queries.size());
  raw_scores(queries, raw);
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    x += raw[i], y += times[i], xx += raw[i] * raw[i], xy += raw[i] * times[i];
  }
  const auto n = static_cast<double>(raw.size());
  const double spread = n * xx - x * x;
  slope_ = spread > 1e-9 ? std::clamp((n * xy - x * y) / spread, 0.02, 5.0) : 1.0;
  offset_ = (y - slope_ * x) / n;
}

void ResidualLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  if (fitted_) {
    raw_scores(queries, scores);
    for (double& score : scores) score = offset_ + slope_ * score;
    return;
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    scores[i] = prior_->log_us(*queries[i].point, queries[i].predicted_us, trust_);
  }
}

}  // namespace attune::cost_model
