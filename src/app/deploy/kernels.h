// The kernels of a model: each distinct task with its schedule, lowered and compiled on all cores.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/deploy/fallback.h"
#include "app/deploy/schedules.h"
#include "base/result.h"
#include "compiler/codegen/codegen.h"
#include "compiler/ir/stmt.h"

namespace attune::deploy {

// Where an argument of a kernel comes from.
struct Argument {
  enum class Kind { Input, Prepared, Output } kind = Kind::Input;
  std::size_t index = 0;   // of the program's inputs, of the prepared buffers; 0 for the output
  ir::Buffer buffer = {};  // as the kernel sees it
};

struct LoweredTask {
  ir::Kernel main;
  std::vector<Argument> arguments;  // of main
  std::optional<ir::Kernel> prepare;
  std::vector<Argument> prepare_arguments;
  Schedule schedule;                // the one that was used
  std::vector<Fallback> fallbacks;  // those that were to be used, and why they were not
};

// The schedule applied and lowered. A schedule that does not fit gives way to the default one, and
// that, should it fail, to the program as it is written: a model always compiles.
Result<LoweredTask> lower_task(const graph::Task& task, const Schedule& schedule,
                               const ir::Target& target);

struct CompiledTask {
  LoweredTask lowered;
  codegen::KernelObject object;                              // of main
  std::optional<codegen::KernelObject> prepare_object = {};  // for the machine that compiles
};
using SharedKernel = std::shared_ptr<const CompiledTask>;

// The same, compiled, with main named `symbol`; a schedule that makes too much code gives way too.
Result<CompiledTask> compile_task(const graph::Task& task, const Schedule& schedule,
                                  const ir::Target& target, const std::string& symbol);

// Calls work(i) for i in [0, count) on `threads` threads and returns the first error.
Status run_parallel(std::size_t count, int threads,
                    const std::function<Status(std::size_t index)>& work);

}  // namespace attune::deploy
