#include "tuner/session/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace attune::session {

Result<const Algorithm*> algorithm_of(const Task& task, const schedule::Trace& trace) {
  const auto* step = trace.empty() ? nullptr : std::get_if<schedule::Algorithm>(&trace.front());
  if (step == nullptr) return &task.algorithms.front();
  const auto found =
      std::find_if(task.algorithms.begin(), task.algorithms.end(),
                   [&](const Algorithm& algorithm) { return algorithm.name == step->name; });
  if (found == task.algorithms.end()) {
    return invalid(fmt::format("task '{}' has no algorithm '{}'", task.name, step->name),
                   "choose one of those the task lists");
  }
  return &*found;
}

}  // namespace attune::session
