// What the history of other tasks says about any schedule: boosted trees over relation features,
// which mean the same whatever the operator and its shapes, that learn how far the analytic
// prediction was off, task by task (the global model of AutoTVM's transfer learning).
#pragma once

#include <memory>

#include "tuner/cost_model/boosted_trees.h"
#include "tuner/cost_model/history.h"

namespace attune::cost_model {

class GlobalModel {
 public:
  // Null when the history has nothing to teach, or its features are not of this width.
  static std::shared_ptr<const GlobalModel> train(const History& history, std::size_t width,
                                                  std::uint64_t seed);

  // What to add to the log of the analytic prediction of a schedule with these relation features,
  // up to a constant.
  double correction(const float* features) const;

 private:
  BoostedTrees trees_;
};

}  // namespace attune::cost_model
