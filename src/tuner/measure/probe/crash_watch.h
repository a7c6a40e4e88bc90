// Notes in shared memory what a kernel died of, from the signal handler of the worker: the signal,
// the address, and which buffer that address belongs to. The worker then ends without a core dump.
#pragma once

#include <span>

#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/guarded_buffer.h"

namespace attune::probe {

// The exit status of a worker that noted a fault.
inline constexpr int kFaultExitStatus = 97;

struct WatchedBuffer {
  const GuardedBuffer* memory = nullptr;
  int number = 0;
};

// Catches the signals that faulty code raises, in all threads of this process.
void install_crash_watch();
// Where to note faults, and the buffers to name, until the next call. Both must stay alive; null
// and empty when no kernel is running.
void watch(Fault* fault, std::span<const WatchedBuffer> buffers);

// "segmentation fault (signal 11), wrote past the end of buffer 2", "called socket, which kernels
// may not".
std::string describe_fault(const Fault& fault);

}  // namespace attune::probe
