#include "tuner/cost_model/analytic_learner.h"

#include <algorithm>
#include <cmath>

#include "tuner/cost_model/learner_def.h"

namespace attune::cost_model {

void AnalyticLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    scores[i] = std::log(std::max(queries[i].predicted_us, 1e-6));
  }
}

LearnerDef analytic_learner() {
  return {"analytic", [](const LearnerPlan&) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<AnalyticLearner>());
          }};
}

}  // namespace attune::cost_model
