// Which shipped schedule a task takes when nothing is known about it here: the one of the same task
// on a processor of the same name and vector width, or, with more care, that of the task most like
// it. A schedule is right wherever it fits; only its speed is uncertain. One that was not measured
// for this task, processor and number of threads is taken only if the analytic model does not
// expect it to be slower than the default.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/schedules/bundle.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::model {

// A task as far as a schedule for it is concerned.
struct ScheduledTask {
  std::string key;
  records::Weights weights = records::Weights::Hot;
  // The program that an algorithm's name stands for; null when that may not be used.
  std::function<const ir::Program*(const std::string& algorithm)> program_of;
  schedule::Trace default_trace = {};
};

struct ShippedSchedule {
  schedule::Trace trace;
  std::string algorithm;
  double time_us = 0;     // where it was measured, of the task it was measured for
  bool same_task = true;  // else of a neighbour
  // That time is this task's, on this processor, with as many threads and the same weights.
  bool measured = false;
  std::string task, target;
};

// The best first, at most `most`.
std::vector<ShippedSchedule> shipped_schedules(const Bundle& bundle, const ScheduledTask& task,
                                               const target::Target& target, std::size_t most = 1);

}  // namespace attune::model
