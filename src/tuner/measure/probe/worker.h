// The process that runs candidates. It trusts them with its life: the server watches from outside.
#pragma once

#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/runner.h"

namespace attune::probe {

// The exit status of a worker that cannot begin: that cannot be caged, that may not run on its core
// any more, or whose device cannot be opened.
inline constexpr int kNoCageExitStatus = 96, kNoCoreExitStatus = 95, kNoDeviceExitStatus = 94;

// Serves the commands of the channel until its other end is gone, pinned to the given cores. Ends
// the process where it cannot begin.
void run_worker(const Descriptor& channel, const RunnerOptions& options);

}  // namespace attune::probe
