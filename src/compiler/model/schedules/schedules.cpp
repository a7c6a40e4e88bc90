#include "compiler/model/schedules/schedules.h"

#include "compiler/schedule/algorithm.h"

namespace attune::model {

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::File:
      return "given";
    case Origin::Record:
      return "recorded";
    case Origin::Shipped:
      return "shipped";
    case Origin::Default:
      return "default";
    case Origin::Plain:
      break;
  }
  return "plain";
}

Schedule recorded_schedule(schedule::Trace trace) {
  Schedule schedule{.trace = std::move(trace), .origin = Origin::Record};
  schedule.algorithm = schedule::algorithm_of(schedule.trace);
  return schedule;
}

const ir::Program* program_of(const graph::Task& task, const std::string& algorithm) {
  if (algorithm == "direct") return &task.op.program;
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (other.name == algorithm) return &other.program;
  }
  return nullptr;
}

const ir::Program* program_of(const graph::Task& task, const std::string& algorithm,
                              const Algorithms& allowed) {
  return allowed.allow(algorithm) ? program_of(task, algorithm) : nullptr;
}

}  // namespace attune::model
