// The points of a space that a model believes in most, found in some hundreds of predictions: from
// the default of each alternative on, the knob is turned that promises most, until none promises
// anything. Deterministic; what defaults are chosen from.
#pragma once

#include <vector>

#include "tuner/cost_model/cost_model.h"
#include "tuner/space/space.h"

namespace attune::cost_model {

struct PredictedPoint {
  space::Point point;
  double us = 0;
  bool is_default = false;  // of its alternative
};

// Fastest first, at most so many, each schedule once; empty when all defaults are rejected.
std::vector<PredictedPoint> fastest_predicted(const space::Space& space, const CostModel& model,
                                              std::size_t most);

}  // namespace attune::cost_model
