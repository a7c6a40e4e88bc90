// A cost model predicts how long a schedule takes; searches rank candidates by it.
#pragma once

#include "tuner/space/space.h"

namespace attune::cost_model {

class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual double predict_us(const space::Scheduled& scheduled) const = 0;
};

}  // namespace attune::cost_model
