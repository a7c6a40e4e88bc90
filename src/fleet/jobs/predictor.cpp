#include "fleet/jobs/predictor.h"

#include <algorithm>
#include <cmath>

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-6;
// The usual times count as this many observations.
constexpr double kPriorWeight = 0.5;

}  // namespace

double Predictor::seconds(std::uint32_t kind) const {
  return usual_[kind] * std::exp(log_ratios_ / (observed_ + kPriorWeight));
}

void Predictor::observe(std::uint32_t kind, double seconds) {
  log_ratios_ += std::log(std::max(seconds, kLeastSeconds) / std::max(usual_[kind], kLeastSeconds));
  observed_ += 1;
}

}  // namespace attune::jobs
