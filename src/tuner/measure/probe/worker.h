// The process that runs candidates. It trusts them with its life: the server watches from outside.
#pragma once

#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/runner.h"

namespace attune::probe {

// The exit status of a worker that cannot be caged.
inline constexpr int kNoCageExitStatus = 96;

// Serves the commands of the channel until its other end is gone, pinned to the given cores.
void run_worker(const Descriptor& channel, const RunnerOptions& options);

}  // namespace attune::probe
