// A learner predicts from measurements which points of a space are fast. It starts from the
// analytic prediction, which every candidate and query carries, and from the history of other tasks
// where there is one. Same candidates in the same order, same seed: same scores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tuner/space/candidate.h"
#include "tuner/space/space.h"

namespace attune::cost_model {

class History;

struct Query {
  const space::Point* point = nullptr;
  double predicted_us = 0;  // by the analytic model
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Learns from candidates that were tried, each with its point and prediction; one that failed
  // counts as worst. What was learnt before is forgotten.
  virtual void fit(std::span<const space::Candidate> tried) = 0;
  // One score per query, less is better: on the scale of the log of the time in microseconds,
  // though where the objective is rank only the order is meant to be right.
  virtual void score(std::span<const Query> queries, std::span<double> scores) const = 0;
  // Scores with the uncertainty taken into account, for choosing what to measure; may cost far more
  // than `score`, so that it is asked of the most promising points alone.
  virtual void acquire(std::span<const Query> queries, std::span<double> scores) const {
    score(queries, scores);
  }
  // About how long the score of one query takes, of a point that was not asked about before:
  // explorers ask accordingly. A constant, so that the same seed leads to the same questions.
  virtual double typical_us() const { return 3; }
};

struct LearnerOptions {
  std::string name = "gp";            // of learner_names()
  std::string features = "relation";  // of features::Kind
  std::string analytic = "both";      // how trees and networks use the analytic prediction: "none",
                                      // "feature", "prior" (they learn what it got wrong), "both"
  std::string acquisition =
      "optimism";         // "mean", "optimism" (lower confidence bound), "improvement"
  int ensemble = 1;       // bootstrap replicas, where the learner has no deviation
  double optimism = 0.7;  // standard deviations taken off the prediction
  std::uint64_t seed = 0;
};

// `space` and `history` (may be null) must outlive the learner.
Result<std::unique_ptr<Learner>> make_learner(const LearnerOptions& options,
                                              const space::Space& space, const History* history);
std::vector<std::string_view> learner_names();
// Whether all names are known.
Status check(const LearnerOptions& options);
// Which options have an effect on the learner of that name; the acquisition also where there is an
// ensemble.
struct LearnerUses {
  bool features = false, analytic = false, acquisition = false, ensemble = false;
};
LearnerUses uses_of(std::string_view learner);
// All that decides about scores, as text.
std::string to_string(const LearnerOptions& options);

}  // namespace attune::cost_model
