#include "tuner/session/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/algorithm.h"

namespace attune::session {

Result<const Algorithm*> algorithm_of(const Task& task, const schedule::Trace& trace) {
  const std::string name = schedule::algorithm_of(trace);
  if (name == "direct") return &task.algorithms.front();
  const auto found =
      std::find_if(task.algorithms.begin(), task.algorithms.end(),
                   [&](const Algorithm& algorithm) { return algorithm.name == name; });
  if (found == task.algorithms.end()) {
    return invalid(fmt::format("task '{}' has no algorithm '{}'", task.name, name),
                   "choose one of those the task lists");
  }
  return &*found;
}

}  // namespace attune::session
