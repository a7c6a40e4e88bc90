#include "fleet/jobs/mock_job.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attune::jobs {
namespace {

double normal(Rng& rng) {  // Box and Muller 1958
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

}  // namespace

DrawnJob draw_times(const MockJob& job, double heterogeneity, double noise, Rng& rng) {
  DrawnJob drawn{job, {}};
  const double factor = std::exp(heterogeneity * normal(rng));
  for (int batch = 0; batch < job.batches; ++batch) {
    for (const StageModel& stage : job.stages) {
      const double drawn_seconds = stage.mean_seconds * factor * std::exp(noise * normal(rng));
      const auto& recorded = stage.recorded_seconds;
      drawn.seconds.push_back(recorded.empty()
                                  ? drawn_seconds
                                  : recorded[static_cast<std::size_t>(batch) % recorded.size()]);
    }
  }
  return drawn;
}

double critical_path(const DrawnJob& job) {
  const std::size_t stages = job.job.stages.size();
  std::vector<double> end(job.seconds.size(), 0.0);
  for (int batch = 0; batch < job.job.batches; ++batch) {
    const std::size_t row = static_cast<std::size_t>(batch) * stages;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      double start = 0;
      if (stage > 0) start = end[row + stage - 1];
      if (batch > 0) start = std::max(start, end[row - stages + stage]);
      if (stage == 0 && batch >= job.job.prefetch) {
        const auto back = static_cast<std::size_t>(batch - job.job.prefetch);
        start = std::max(start, end[back * stages + stages - 1]);
      }
      end[row + stage] = start + job.at(batch, stage);
    }
  }
  return end.empty() ? 0 : end.back();
}

MockProgress::MockProgress(const MockJob& job)
    : batches_(job.batches),
      prefetch_(job.prefetch),
      offered_(job.stages.size(), 0),
      done_(job.stages.size(), 0) {}

bool MockProgress::may_start(std::size_t stage) const {
  const int batch = offered_[stage];
  if (batch == batches_ || done_[stage] != batch) return false;
  return stage == 0 ? done_.back() > batch - prefetch_ : done_[stage - 1] > batch;
}

std::vector<MockProgress::Place> MockProgress::newly_ready() {
  std::vector<Place> ready;
  for (std::size_t stage = 0; stage < offered_.size(); ++stage) {
    if (may_start(stage)) ready.push_back({offered_[stage]++, stage});
  }
  return ready;
}

void MockProgress::finish(const Place& place) { done_[place.stage] = place.batch + 1; }

bool MockProgress::finished() const { return done_.back() == batches_; }

}  // namespace attune::jobs
