#include "tuner/model/prior.h"

#include "tuner/model/point_features.h"

namespace attune::model {

double Prior::log_us(const space::Point&, double predicted_us) const {
  return analytic_ ? log_time(predicted_us) : 0;
}

}  // namespace attune::model
