// A pool of a simulation as its stages see it: while more of it is in use than there is, all of
// them progress more slowly. Progress is counted in seconds of undisturbed work that each of them
// had.
#pragma once

#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

class SharedPool {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit SharedPool(int capacity) : capacity_(capacity) {}

  void start(StageId stage, int amount, double seconds) {
    ends_.push({progress_ + seconds, stage});
    amounts_[stage] = amount;
    in_use_ += amount;
  }
  double next_end(double now) const {
    return ends_.empty() ? kNever : now + (ends_.top().first - progress_) / rate();
  }
  void advance(double seconds) { progress_ += seconds * rate(); }
  StageId pop() {
    const StageId stage = ends_.top().second;
    ends_.pop();
    in_use_ -= amounts_.extract(stage).mapped();
    return stage;
  }

 private:
  double rate() const { return in_use_ <= capacity_ ? 1.0 : double(capacity_) / in_use_; }

  using End = std::pair<double, StageId>;
  int capacity_;
  int in_use_ = 0;
  double progress_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::unordered_map<StageId, int> amounts_;
};

}  // namespace attune::jobs
