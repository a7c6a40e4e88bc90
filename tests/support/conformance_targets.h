// The targets of the conformance tests: how a graph and a scheduled program are compiled for each
// and run on its device. conformance_targets() has every kind of src/targets/list.inc that can run
// here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/tasks/tasks.h"
#include "compiler/target/target.h"
#include "tests/support/run_scheduled.h"

namespace attune::test {

// A graph that was compiled and run.
struct GraphRun {
  std::vector<ops::ConstantPtr> outputs;
  std::vector<graph::Task> tasks;  // the kernels that it was made of
};

struct ConformanceTarget {
  std::string name;
  target::Target target;  // resolved
  // By the way of every model, with default schedules; an error where one of these does not hold.
  std::function<Result<GraphRun>(const graph::Graph& graph,
                                 const std::vector<ops::ConstantPtr>& inputs)>
      run;
  // As check_trace, compiled.
  std::function<Status(const ir::Program& program, const schedule::Trace& trace,
                       const Reference& reference, double tolerance)>
      check;
};

// A target in text; an error says why its programs cannot run here.
Result<ConformanceTarget> conformance_target(std::string_view text);
// Those that can run here, this machine's own first.
const std::vector<ConformanceTarget>& conformance_targets();

}  // namespace attune::test
