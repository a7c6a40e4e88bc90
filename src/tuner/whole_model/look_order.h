// What a look is spent on: the tasks in which the model may gain most, as long as there is time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace attune::whole_model {

struct LookTask {
  double uses = 1;                // in one run of the model
  double bound_us = 0;            // of one use (compiler/model/bound.h)
  std::optional<double> us = {};  // of one use inside the model; unknown where it did not run
};

// Those worth a look, by number, the most promising first: by what a run spends on them beyond
// their bound, and after them those that were not timed, by their bound. Left out are tasks close
// to their bound and tasks that the model hardly feels.
std::vector<std::size_t> by_gain(std::span<const LookTask> tasks);

// Time that goes by in steps, none of which is cut short.
class StepBudget {
 public:
  explicit StepBudget(double seconds) : seconds_(seconds) {}

  // Whether a step that takes as long as those before ends in time.
  bool allows_another(double elapsed_seconds) const;
  void add_step(double seconds);
  bool is_spent(double elapsed_seconds) const { return elapsed_seconds >= seconds_; }

 private:
  double seconds_;
  double in_steps_ = 0;
  int steps_ = 0;
};

}  // namespace attune::whole_model
