#include "tuner/cost_model/analytic_learner.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {

void AnalyticLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    scores[i] = std::log(std::max(queries[i].predicted_us, 1e-6));
  }
}

}  // namespace attune::cost_model
