// The learner of small numbers of trials: what is believed before (prior.h) times a Gaussian
// process over the knobs (correction.h). It knows how uncertain it is by itself.
#pragma once

#include "tuner/cost_model/acquisition.h"
#include "tuner/cost_model/correction.h"
#include "tuner/cost_model/learner.h"
#include "tuner/cost_model/prior.h"

namespace attune::cost_model {

class GpLearner : public Learner {
 public:
  GpLearner(AcquisitionRule rule, const space::Space& space, std::shared_ptr<const Prior> prior);

  void fit(std::span<const space::Candidate> tried) override;
  void score(std::span<const Query> queries, std::span<double> scores) const override;
  void acquire(std::span<const Query> queries, std::span<double> scores) const override;
  double typical_us() const override { return prior_->uses_history() ? 60 : 3; }

 private:
  AcquisitionRule rule_;
  std::shared_ptr<const Prior> prior_;
  Trust trust_;
  double best_ = 0;  // log time
  Correction correction_;
};

}  // namespace attune::cost_model
