// What is believed of a point before anything was measured: the log of its time, up to a constant.
// The analytic prediction, where it is wanted.
#pragma once

#include "tuner/model/learner.h"

namespace attune::model {

class Prior {
 public:
  explicit Prior(bool analytic) : analytic_(analytic) {}
  double log_us(const space::Point& point, double predicted_us) const;
  // Whether it tells points apart.
  bool knows() const { return analytic_; }

 private:
  bool analytic_;
};

}  // namespace attune::model
