#include "fleet/jobs/simulation/mock_job.h"

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

const StageModel& MockJob::kind(std::size_t number) const {
  if (number < stages.size()) return stages[number];
  number -= stages.size();
  return number < opening.size() ? opening[number] : closing[number - opening.size()];
}

DrawnJob draw_times(const MockJob& job, double heterogeneity, double noise, Rng& rng) {
  DrawnJob drawn{job, {}};
  const double factor = std::exp(heterogeneity * normal(rng));
  const auto draw = [&](int batch, const StageModel& stage) {
    const double drawn_seconds = stage.mean_seconds * factor * std::exp(noise * normal(rng));
    const auto& recorded = stage.recorded_seconds;
    drawn.seconds.push_back(recorded.empty()
                                ? drawn_seconds
                                : recorded[static_cast<std::size_t>(batch) % recorded.size()]);
  };
  for (int batch = 0; batch < job.batches; ++batch) {
    for (const StageModel& stage : job.stages) draw(batch, stage);
  }
  for (std::size_t kind = job.stages.size(); kind < job.kinds(); ++kind) draw(0, job.kind(kind));
  return drawn;
}

double critical_path(const DrawnJob& job) {
  const std::size_t stages = job.job.stages.size();
  double once = 0;
  for (std::size_t kind = stages; kind < job.job.kinds(); ++kind) once += job.at(0, kind);
  std::vector<double> end(static_cast<std::size_t>(job.job.batches) * stages, 0.0);
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
  return once + (end.empty() ? 0 : end.back());
}

MockProgress::MockProgress(const MockJob& job)
    : batches_(job.batches),
      prefetch_(job.prefetch),
      stages_(job.stages.size()),
      opening_(job.opening.size()),
      offered_(job.kinds(), 0),
      done_(job.kinds(), 0) {}

bool MockProgress::may_start(std::size_t kind) const {
  const int batch = offered_[kind];
  if (batch == count(kind) || done_[kind] != batch) return false;
  if (kind == 0) {
    const bool opened = opening_ == 0 || all_done(stages_ + opening_ - 1);
    return opened && done_[stages_ - 1] > batch - prefetch_;
  }
  if (kind < stages_) return done_[kind - 1] > batch;
  if (kind == stages_ && opening_ > 0) return true;
  return all_done(kind == stages_ + opening_ ? stages_ - 1 : kind - 1);
}

std::vector<MockProgress::Place> MockProgress::newly_ready() {
  std::vector<Place> ready;
  for (std::size_t kind = 0; kind < offered_.size(); ++kind) {
    if (may_start(kind)) ready.push_back({offered_[kind]++, kind});
  }
  return ready;
}

void MockProgress::finish(const Place& place) { done_[place.kind] = place.batch + 1; }

bool MockProgress::finished() const {
  return all_done(done_.size() == stages_ + opening_ ? stages_ - 1 : done_.size() - 1);
}

}  // namespace attune::jobs
