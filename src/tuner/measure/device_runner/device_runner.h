// Measuring on a device with memory of its own, in a process that is started for it
// (docs/security.md). A candidate that crashes, breaks or hangs that process is an outcome; the
// process is ended and the next candidate gets a new one. Outputs are compared here, so that the
// process never knows what must come out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/measure/runner.h"

namespace attune::device_runner {

struct DeviceRunnerOptions {
  std::string kind = {};    // of the device
  std::string target = {};  // in text, as the kind opens it
  std::string device = {};  // what it is called in records
  // Starts the process that serves: our own program, and the verb for it.
  std::vector<std::string> command = {"/proc/self/exe", "serve-device"};
  double launch_us = 1;       // what the device takes to start a kernel
  double open_ms = 60'000;    // for the device to open,
  double set_up_ms = 30'000;  // and for a candidate's code and constants to get there
  // Copies of constants that are to be cold exceed the caches by that.
  std::int64_t rotate_bytes = std::int64_t{96} << 20;
};

// Opens the device once, so that one that cannot be opened is an error here.
Result<std::unique_ptr<measure::Runner>> start_device_runner(DeviceRunnerOptions options);

}  // namespace attune::device_runner
