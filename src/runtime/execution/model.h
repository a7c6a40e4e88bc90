// The inside of a Model: what a session needs of it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/execution/executor.h"

namespace attune::runtime {

struct Model::State {
  Artifact artifact;
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<LoadedCode>> code;  // as the artifact's objects
  std::vector<KernelHandle> kernels;              // as the plan's kernels
  std::unique_ptr<DeviceMemory> weights;          // where the device has memory of its own

  std::mutex mutex = {};
  bool ready = false;

  // Loads code and weights unless that was done before; from any thread.
  Status make_ready();
  Status load_kernels();
  Status load_weights();
};

}  // namespace attune::runtime
