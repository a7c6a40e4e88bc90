// The kernels of a model: each distinct task with its schedule, lowered and compiled on all cores.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/fallback.h"
#include "compiler/model/schedules/schedules.h"

namespace attune::model {

struct CompiledTask {
  kernel::LoweredProgram program;
  Schedule schedule;                // the one that was used
  std::vector<Fallback> fallbacks;  // those that were to be used, and why they were not
  kernel::Kernel main;
  std::optional<kernel::Kernel> prepare = {};  // for the machine that compiles
};
using SharedKernel = std::shared_ptr<const CompiledTask>;

// The schedule applied, lowered and compiled, with main named `symbol`. A schedule that does not
// fit, or makes too much code, gives way to the default one, and that, should it fail, to the
// program as it is written: a model always compiles. Only what the user gives in a file is taken as
// it is.
Result<CompiledTask> compile_task(const graph::Task& task, const Schedule& schedule,
                                  const target::Target& target, const std::string& symbol);

// On how many threads to compile: all cores that the calling thread may use, whatever the target.
int compiling_threads();

// Calls work(i) for i in [0, count) on up to `threads` threads and returns the first error.
Status run_parallel(std::size_t count, int threads,
                    const std::function<Status(std::size_t index)>& work);

}  // namespace attune::model
