// What learners by rank or by regression have in common: they start from the prior, learn what it
// got wrong, and score on the scale of log time. By rank, scores are brought to that scale by a
// line through the examples. Candidates that failed count as slower than all that ran.
#pragma once

#include <memory>

#include "tuner/cost_model/boosted_trees.h"
#include "tuner/cost_model/learner.h"
#include "tuner/cost_model/prior.h"

namespace attune::cost_model {

class ResidualLearner : public Learner {
 public:
  ResidualLearner(Objective objective, std::shared_ptr<const Prior> prior, std::size_t most_lessons)
      : objective_(objective), prior_(std::move(prior)), most_lessons_(most_lessons) {}

  void fit(std::span<const space::Candidate> tried) final;
  void score(std::span<const Query> queries, std::span<double> scores) const final;

 protected:
  Objective objective() const { return objective_; }
  // Learns labels. By rank, more is better, and `margins` are what the prior says on the same
  // scale; by regression they are what is to be added to the prior, and there are no margins.
  virtual void train(std::span<const Lesson> lessons, std::span<const float> labels,
                     std::span<const float> margins) = 0;
  // What was learnt about these points, on the scale of the labels (regression) or margins (rank).
  virtual void predict(std::span<const Query> queries, std::span<double> learnt) const = 0;

 private:
  void raw_scores(std::span<const Query> queries, std::span<double> scores) const;
  void calibrate(std::span<const Lesson> lessons);

  Objective objective_;
  std::shared_ptr<const Prior> prior_;
  std::size_t most_lessons_;
  Trust trust_;
  bool fitted_ = false;
  double offset_ = 0, slope_ = 1;  // of log time over raw score
};

}  // namespace attune::cost_model
