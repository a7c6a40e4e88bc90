// Computing on this machine, while compiling: packed and transformed weights, and whatever else of
// a model depends on constants only.
#pragma once

#include <map>

#include "compiler/graph/builder.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/kernels.h"
#include "runtime/execution/device.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/format/plan.h"

namespace attune::model {

// Host operators of the runtime, for constants.
Result<std::vector<ops::ConstantPtr>> run_host_on_constants(const ops::OpCall& call);

// This machine, with no more threads than `target` has where its programs run on cores: how sums of
// constants are added up, and so their last bits, may follow from that.
Result<target::Target> ahead_target(const target::Target& target);

// Runs kernels that are compiled for this machine.
class AheadRunner {
 public:
  // The device is opened when there is a first kernel to load.
  static Result<AheadRunner> create(const target::Target& target);

  // Kernels with different names, for ahead_target(); they can be run from then on.
  Status load(const std::vector<kernel::Kernel>& kernels);
  // One address per parameter of the kernel; what is only read may have any alignment.
  Status run(const kernel::Kernel& kernel, const std::vector<void*>& arguments);

  const target::Target& target() const { return target_; }

 private:
  struct Loaded {
    std::shared_ptr<runtime::LoadedCode> code;
    runtime::KernelHandle kernel = nullptr;
    std::int64_t workspace_bytes = 0;
  };
  Status open();

  target::Target target_;
  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::ThreadPool> pool_;
  std::map<std::string, Loaded> loaded_;
};

// Folds every node of constants that a kernel can compute, however large.
Result<graph::Graph> compute_constants(const graph::Graph& graph, AheadRunner& runner);

}  // namespace attune::model
