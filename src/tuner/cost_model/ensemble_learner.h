// Several learners of one kind, each fitted to examples drawn anew with repetition (the bootstrap):
// their mean is the prediction, and how far they disagree its uncertainty.
#pragma once

#include <memory>

#include "tuner/cost_model/acquisition.h"
#include "tuner/cost_model/learner.h"

namespace attune::cost_model {

class EnsembleLearner : public Learner {
 public:
  // Members must score on the scale of log time.
  EnsembleLearner(std::vector<std::unique_ptr<Learner>> members, AcquisitionRule rule,
                  std::uint64_t seed);

  void fit(std::span<const space::Candidate> tried) override;
  void score(std::span<const Query> queries, std::span<double> scores) const override;
  void acquire(std::span<const Query> queries, std::span<double> scores) const override;
  // The members share what is expensive.
  double typical_us() const override {
    return members_.front()->typical_us() + static_cast<double>(members_.size());
  }

 private:
  std::vector<std::unique_ptr<Learner>> members_;
  AcquisitionRule rule_;
  std::uint64_t seed_;
  double best_ = 0;  // log time
};

}  // namespace attune::cost_model
