#include "compiler/model/kernel_store.h"

#include "compiler/ir/nodes/launch.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/ahead.h"

namespace attune::model {

Result<SharedKernel> KernelStore::kernel(const graph::Task& task, const Schedule& schedule,
                                         const std::string& symbol) {
  const Key key{symbol, schedule.algorithm, schedule::hash(schedule.trace), schedule.origin,
                schedule.passed_over};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  }
  ATTUNE_ASSIGN(CompiledTask compiled, compile_task(task, schedule, target_, symbol));
  if (auto& prepare = compiled.program.prepare) {
    prepare->loops.name = symbol + "_prepare";
    // Here, whatever the main kernel runs on.
    kernel::LoweredKernel plain = *prepare;
    plain.loops.body = ir::as_plain_loops(plain.loops.body);
    ATTUNE_ASSIGN(const target::Target here, ahead_target(target_));
    ATTUNE_ASSIGN(compiled.prepare, kernel::compile(plain, here));
  }
  auto kernel = std::make_shared<const CompiledTask>(std::move(compiled));
  const std::lock_guard lock(mutex_);
  return kernels_.try_emplace(key, std::move(kernel)).first->second;
}

}  // namespace attune::model
