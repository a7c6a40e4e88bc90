// What is believed of a point before anything of its task was measured: the log of its time, up to
// a constant. That is the analytic prediction, where it is wanted, and what the history of other
// tasks says about it, where there is one. How far each can be trusted is seen from the first
// measurements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "tuner/cost_model/global_model.h"
#include "tuner/cost_model/point_features.h"
#include "tuner/cost_model/training_set.h"

namespace attune::cost_model {

// How much of the analytic prediction and of history is believed.
struct Trust {
  double analytic = 1, history = 1;
};

// For one thread at a time.
class Prior {
 public:
  // `features` are those of the space's points that `global`, which may be null, knows.
  Prior(bool analytic, std::shared_ptr<PointFeatures> features,
        std::shared_ptr<const GlobalModel> global);

  double log_us(const space::Point& point, double predicted_us, Trust trust) const;
  bool uses_history() const { return global_ != nullptr; }
  // What these lessons say about it: 1 each without any.
  Trust trust(std::span<const Lesson> lessons) const;

 private:
  // The part that history adds to the analytic prediction; 0 without history.
  double correction(const space::Point& point, double predicted_us) const;

  bool analytic_;
  std::shared_ptr<PointFeatures> features_;
  std::shared_ptr<const GlobalModel> global_;
  mutable std::unordered_map<std::uint64_t, float> corrections_;  // by point
};

}  // namespace attune::cost_model
