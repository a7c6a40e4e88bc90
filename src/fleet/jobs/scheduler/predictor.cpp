#include "fleet/jobs/scheduler/predictor.h"

#include <algorithm>
#include <numeric>

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-6;
// One stage of every kind that took as long as usual counts this much.
constexpr double kPriorWeight = 0.5;
// How the job compares in general counts as this many observations of a kind.
constexpr double kJobWeight = 4;

}  // namespace

Predictor::Predictor(std::vector<double> usual_seconds) : usual_(std::move(usual_seconds)) {
  for (double& seconds : usual_) seconds = std::max(seconds, kLeastSeconds);
  kinds_.resize(usual_.size());
  predicted_ = usual_;
}

double Predictor::job_factor() const {
  const double prior = kPriorWeight * std::accumulate(usual_.begin(), usual_.end(), 0.0);
  double took = prior, usual = prior;
  for (std::size_t kind = 0; kind < usual_.size(); ++kind) {
    took += kinds_[kind].seconds;
    usual += kinds_[kind].count * usual_[kind];
  }
  return took / usual;
}

void Predictor::predict() {
  const double factor = job_factor();
  for (std::size_t kind = 0; kind < usual_.size(); ++kind) {
    const Seen& own = kinds_[kind];
    predicted_[kind] =
        (own.seconds + kJobWeight * factor * usual_[kind]) / (own.count + kJobWeight);
  }
}

void Predictor::observe(std::uint32_t kind, double seconds) {
  kinds_[kind].seconds += std::max(seconds, 0.0);
  kinds_[kind].count += 1;
  predict();
}

void Predictor::set_usual_seconds(std::uint32_t kind, double seconds) {
  if (kind >= usual_.size()) return;
  usual_[kind] = std::max(seconds, kLeastSeconds);
  predict();
}

}  // namespace attune::jobs
