// The inside of a Model: what a session needs of it.
#pragma once

#include <vector>

#include "runtime/executor.h"
#include "runtime/kernel_module.h"

namespace attune::runtime {

struct Model::State {
  Artifact artifact;
  std::vector<KernelModule> modules;  // as the artifact's objects
  std::vector<AttuneKernel> kernels;  // as the plan's kernels
};

}  // namespace attune::runtime
