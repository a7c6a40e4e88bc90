// A scheduled program as something that runs in this process: kernels loaded, buffers allocated,
// threads pinned. For bench, run and check; tuning measures in a child of its own instead.
#pragma once

#include <memory>
#include <vector>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "base/result.h"
#include "compiler/kernel/kernel.h"
#include "runtime/kernel_module.h"
#include "runtime/memory.h"
#include "runtime/tensor.h"
#include "runtime/thread_pool.h"
#include "tuner/measure/runner.h"

namespace attune::api {

// Lowers and compiles; the error says which step of it failed.
Result<measure::BuiltCandidate> build_schedule(const OperatorModel& model,
                                               const KnownSchedule& known);

class Executable {
 public:
  static Result<Executable> load(const OperatorModel& model, const measure::BuiltCandidate& built);

  // In the program's order and layout. Inputs are filled with random numbers of the seed.
  void fill_inputs(std::uint64_t seed);
  std::vector<runtime::Tensor>& inputs() { return inputs_; }
  const std::vector<runtime::Tensor>& outputs() const { return outputs_; }

  // Starts the workers, each on a core of its own, with the calling thread as the first of them. In
  // the process that runs, before anything runs.
  Status start_threads();
  // Computes what depends on constant inputs only; before the first run, and after those changed.
  Status prepare();
  Status run();

 private:
  struct Kernel {
    std::unique_ptr<runtime::KernelModule> module;
    AttuneKernel function = nullptr;
    std::vector<void*> buffers;
    runtime::Memory workspace;
  };
  Result<Kernel> load_kernel(const measure::KernelCode& code);
  Result<void*> buffer_of(const kernel::Parameter& parameter);
  Status run_kernel(const Kernel& kernel);

  std::vector<runtime::Tensor> inputs_, outputs_, prepared_;
  int threads_ = 1;
  std::unique_ptr<runtime::ThreadPool> pool_;
  Kernel main_;
  Kernel prepare_;
};

}  // namespace attune::api
