#include "tuner/whole_model/look_order.h"

#include <algorithm>

namespace attune::whole_model {
namespace {

// Closer to its bound than this a default is left alone, as is one that the model hardly feels.
constexpr double kNear = 1.2, kFelt = 0.002;

}  // namespace

std::vector<std::size_t> by_gain(std::span<const LookTask> tasks) {
  struct Ranked {
    std::size_t number;
    double weight;
  };
  double total_us = 0;
  for (const LookTask& task : tasks) total_us += task.uses * task.us.value_or(0);
  std::vector<Ranked> timed, untimed;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const LookTask& task = tasks[i];
    if (!task.us) {
      untimed.push_back({i, task.uses * task.bound_us});
      continue;
    }
    const double gain_us = task.uses * (*task.us - task.bound_us);
    const bool far = *task.us > kNear * task.bound_us;
    if (far && gain_us > kFelt * total_us) timed.push_back({i, gain_us});
  }
  std::vector<std::size_t> order;
  for (std::vector<Ranked>* ranks : {&timed, &untimed}) {
    std::stable_sort(ranks->begin(), ranks->end(),
                     [](const Ranked& a, const Ranked& b) { return a.weight > b.weight; });
    for (const Ranked& ranked : *ranks) order.push_back(ranked.number);
  }
  return order;
}

bool StepBudget::allows_another(double elapsed_seconds) const {
  const double step = steps_ > 0 ? in_steps_ / steps_ : 0;
  return !is_spent(elapsed_seconds + step);
}

void StepBudget::add_step(double seconds) {
  in_steps_ += seconds;
  ++steps_;
}

}  // namespace attune::whole_model
