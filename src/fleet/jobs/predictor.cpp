#include "fleet/jobs/predictor.h"

#include <algorithm>
#include <cmath>

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-6;
// The usual times count as this many observations.
constexpr double kPriorWeight = 0.5;
// How the job compares in general counts as this many observations of a kind.
constexpr double kJobWeight = 4;

}  // namespace

Predictor::Predictor(std::vector<double> usual_seconds)
    : usual_(std::move(usual_seconds)), kinds_(usual_.size()) {}

double Predictor::seconds(std::uint32_t kind) const {
  const double job = all_.log_ratios / (all_.count + kPriorWeight);
  const Seen& own = kinds_[kind];
  return usual_[kind] * std::exp((own.log_ratios + kJobWeight * job) / (own.count + kJobWeight));
}

void Predictor::observe(std::uint32_t kind, double seconds) {
  const double ratio = std::max(seconds, kLeastSeconds) / std::max(usual_[kind], kLeastSeconds);
  for (Seen* seen : {&all_, &kinds_[kind]}) {
    seen->log_ratios += std::log(ratio);
    seen->count += 1;
  }
}

}  // namespace attune::jobs
