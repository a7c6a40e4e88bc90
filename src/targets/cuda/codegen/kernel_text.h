// Lowered kernels as CUDA C++: one function for each launch, and how each is to be called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/launch.h"
#include "compiler/target/launch_facts.h"
#include "targets/cuda/device/image.h"

namespace attune::cuda {

// What a launch has, as limits of devices are checked by.
struct LaunchNeeds {
  ir::Launch shape;
  std::int64_t shared_bytes = 0;  // of a block
  std::int64_t expressions = 0;   // with all loops that are to be unrolled
};

struct KernelText {
  std::string text;  // to be compiled behind the prelude, which it includes
  std::vector<LaunchImage> launches;
  std::vector<LaunchNeeds> needs;  // by launch
  std::int64_t scratch_bytes = 0;
};

// The kernel must have gone through lower::launch_pipeline().
// Launches that wait for the work before them may overlap with it: see LaunchImage. `device`, where
// it is known, says how many blocks registers are to be left for.
Result<KernelText> print_kernel(const ir::Kernel& kernel, bool waits = false,
                                const target::LaunchFacts& device = {});

}  // namespace attune::cuda
