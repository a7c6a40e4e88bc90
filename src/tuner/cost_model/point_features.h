// Feature vectors of points, remembered: to schedule a point costs a hundred times what a
// prediction costs. The memory is bounded; when it is full, all is forgotten. For one thread at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/features/features.h"
#include "tuner/space/space.h"

namespace attune::cost_model {

class PointFeatures {
 public:
  using Extract = std::function<void(const space::Point&, std::span<float>)>;
  static constexpr std::size_t kDefaultBytes = std::size_t{48} << 20;

  PointFeatures(std::size_t width, Extract extract, std::size_t max_bytes = kDefaultBytes);

  // Of a row: the features, and behind them the log of the predicted time.
  std::size_t width() const { return width_ + 1; }
  // Valid until the next call.
  const float* row(const space::Point& point, double predicted_us);
  std::size_t remembered() const { return places_.size(); }

 private:
  std::size_t width_;
  Extract extract_;
  std::size_t max_rows_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // by point
  std::vector<float> rows_;
};

// Features of this kind; `space` must outlive them. Points that cannot be scheduled have zeros.
std::shared_ptr<PointFeatures> features_of(const space::Space& space, features::Kind kind);

// The log of a predicted time, which may be nonsense.
double log_time(double us);

}  // namespace attune::cost_model
