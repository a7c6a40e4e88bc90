#include "tuner/cost_model/ensemble_learner.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "tuner/cost_model/point_features.h"

namespace attune::cost_model {

EnsembleLearner::EnsembleLearner(std::vector<std::unique_ptr<Learner>> members,
                                 AcquisitionRule rule, std::uint64_t seed)
    : members_(std::move(members)), rule_(rule), seed_(seed) {
  CHECK(!members_.empty(), "an ensemble needs members");
}

void EnsembleLearner::fit(std::span<const Example> examples) {
  best_ = 0;
  const Example* fastest = nullptr;
  for (const Example& example : examples) {
    if (!example.measured_us) continue;
    if (!fastest || *example.measured_us < *fastest->measured_us) fastest = &example;
  }
  if (fastest) best_ = log_time(*fastest->measured_us);
  std::vector<Example> drawn;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Rng rng(hash_combine(seed_, m));
    drawn.clear();
    for (std::size_t i = 0; i < examples.size(); ++i) {
      drawn.push_back(examples[rng.below(examples.size())]);
    }
    members_[m]->fit(drawn);
  }
}

void EnsembleLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  std::vector<double> one(queries.size());
  std::fill(scores.begin(), scores.end(), 0);
  for (const auto& member : members_) {
    member->score(queries, one);
    for (std::size_t i = 0; i < one.size(); ++i) scores[i] += one[i];
  }
  for (double& score : scores) score /= static_cast<double>(members_.size());
}

void EnsembleLearner::acquire(std::span<const Query> queries, std::span<double> scores) const {
  const auto count = static_cast<double>(members_.size());
  std::vector<double> one(queries.size()), sum(queries.size()), squares(queries.size());
  for (const auto& member : members_) {
    member->score(queries, one);
    for (std::size_t i = 0; i < one.size(); ++i) {
      sum[i] += one[i];
      squares[i] += one[i] * one[i];
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const double mean = sum[i] / count;
    const double variance = std::max(0.0, squares[i] / count - mean * mean);
    scores[i] = rule_.score(mean, std::sqrt(variance), best_);
  }
}

}  // namespace attune::cost_model
