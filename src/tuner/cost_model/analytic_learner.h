// No learning at all: the analytic prediction as it is.
#pragma once

#include "tuner/cost_model/learner.h"

namespace attune::cost_model {

class AnalyticLearner : public Learner {
 public:
  void fit(std::span<const space::Candidate>) override {}
  void score(std::span<const Query> queries, std::span<double> scores) const override;
};

}  // namespace attune::cost_model
