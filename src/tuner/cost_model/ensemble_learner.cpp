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

void EnsembleLearner::fit(std::span<const space::Candidate> tried) {
  best_ = 0;
  const space::Candidate* fastest = nullptr;
  for (const space::Candidate& candidate : tried) {
    if (!candidate.time_us) continue;
    if (!fastest || *candidate.time_us < *fastest->time_us) fastest = &candidate;
  }
  if (fastest) best_ = log_time(*fastest->time_us);
  std::vector<space::Candidate> drawn;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Rng rng(hash_combine(seed_, m));
    drawn.clear();
    for (std::size_t i = 0; i < tried.size(); ++i) {
      drawn.push_back(tried[rng.below(tried.size())]);
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
