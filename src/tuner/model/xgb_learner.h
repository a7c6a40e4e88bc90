// Boosted trees over features of points (AutoTVM, Chen et al. 2018), by rank or by regression. They
// start from the prior and learn what it got wrong; candidates that failed count as slower than
// all that ran. By rank too the scores are logs of times: margins are brought to that scale by a
// line through the examples.
#pragma once

#include <memory>

#include "tuner/model/boosted_trees.h"
#include "tuner/model/learner.h"
#include "tuner/model/point_features.h"
#include "tuner/model/prior.h"

namespace attune::model {

struct XgbParts {
  Objective objective = Objective::Rank;
  std::shared_ptr<PointFeatures> features;
  std::shared_ptr<const Prior> prior;
  bool analytic_feature = true;  // the predicted time is a feature too
  std::uint64_t seed = 0;
};

class XgbLearner : public Learner {
 public:
  explicit XgbLearner(XgbParts parts) : parts_(std::move(parts)) {}

  void fit(std::span<const Example> examples) override;
  void score(std::span<const Query> queries, std::span<double> scores) const override;
  double typical_us() const override { return 50; }

 private:
  double raw_score(const space::Point& point, double predicted_us) const;
  void calibrate(std::span<const Example> examples);

  XgbParts parts_;
  Trust trust_;
  BoostedTrees trees_;
  bool fitted_ = false;
  double offset_ = 0, slope_ = 1;  // of log time over raw score
};

}  // namespace attune::model
