#include "tuner/cost_model/point_features.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {

double log_time(double us) { return std::log(std::max(us, 1e-6)); }

PointFeatures::PointFeatures(std::size_t width, Extract extract, std::size_t max_bytes)
    : width_(width),
      extract_(std::move(extract)),
      max_rows_(std::max<std::size_t>(max_bytes / (sizeof(float) * (width + 1)), 1)) {}

const float* PointFeatures::row(const space::Point& point, double predicted_us) {
  const std::uint64_t key = space::hash(point);
  if (const auto known = places_.find(key); known != places_.end()) {
    return &rows_[known->second];
  }
  if (places_.size() == max_rows_) {
    places_.clear();
    rows_.clear();
  }
  const std::size_t place = rows_.size();
  rows_.resize(place + width());
  extract_(point, {&rows_[place], width_});
  rows_[place + width_] = static_cast<float>(log_time(predicted_us));
  places_.emplace(key, place);
  return &rows_[place];
}

std::shared_ptr<PointFeatures> features_of(const space::Space& space, features::Kind kind) {
  const auto extract = [&space, kind](const space::Point& point, std::span<float> out) {
    if (kind == features::Kind::Knob) return features::extract_knobs(space, point, out);
    const auto scheduled = space.schedule_of(point);
    if (scheduled.ok()) features::extract(kind, *scheduled, space.target(), out);
  };
  return std::make_shared<PointFeatures>(features::width(kind, space), extract);
}

}  // namespace attune::cost_model
