// Picks a batch that is promising and diverse: greedily the candidate with the best score, after a
// bonus for every choice of a knob that is not in the batch yet (the submodular objective of
// AutoTVM).
#pragma once

#include <unordered_set>
#include <vector>

#include "tuner/space/space.h"

namespace attune::explore {

class BatchPicker {
 public:
  explicit BatchPicker(double new_choice) : new_choice_(new_choice) {}

  void add(const space::Point& point, double score) { pool_.push_back({point, score, false}); }
  // The choices of this point are in the batch from now on.
  void include(const space::Point& point);
  // The best candidate left, which is then gone; null when there is none.
  const space::Point* next();

 private:
  struct Choice {
    space::Point point;
    double score;
    bool gone;
  };
  double bonus(const space::Point& point) const;

  double new_choice_;
  std::vector<Choice> pool_;
  std::unordered_set<std::uint64_t> included_;  // alternative, knob, choice
};

}  // namespace attune::explore
