// Which schedule a task of a model is compiled with.
#pragma once

#include <functional>
#include <string>

#include "compiler/graph/tasks.h"
#include "compiler/ir/target.h"
#include "compiler/schedule/trace.h"

namespace attune::deploy {

struct Schedule {
  std::string algorithm = "direct";
  schedule::Trace trace = {};  // begins with `algorithm NAME` unless that is the direct one
};

using ChooseSchedule = std::function<Schedule(const graph::Task& task)>;

// The program that an algorithm's name stands for; null when the task has none of that name.
const ir::Program* program_of(const graph::Task& task, const std::string& algorithm);

// Without measuring: an algorithm with fewer multiplications where that pays as a rule, and the
// default schedule of its template. `exact` allows the direct algorithm only.
Schedule default_schedule(const graph::Task& task, const ir::Target& target, bool exact);

}  // namespace attune::deploy
