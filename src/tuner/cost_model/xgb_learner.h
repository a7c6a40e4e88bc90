// Boosted trees over features of points (AutoTVM, Chen et al. 2018), by rank or by regression.
#pragma once

#include <memory>

#include "tuner/cost_model/point_features.h"
#include "tuner/cost_model/residual_learner.h"

namespace attune::cost_model {

struct XgbParts {
  Objective objective = Objective::Rank;
  std::shared_ptr<PointFeatures> features;
  std::shared_ptr<const Prior> prior;
  bool analytic_feature = true;  // the predicted time is a feature too
  double typical_us = 60;        // to make the features of a point
  std::uint64_t seed = 0;
};

class XgbLearner : public ResidualLearner {
 public:
  explicit XgbLearner(XgbParts parts);
  double typical_us() const override { return parts_.typical_us; }

 private:
  void train(std::span<const Lesson> lessons, std::span<const float> labels,
             std::span<const float> margins) override;
  void predict(std::span<const Query> queries, std::span<double> learnt) const override;

  XgbParts parts_;
  BoostedTrees trees_;
};

}  // namespace attune::cost_model
