// The simulated device: memory of its own that the host reaches by transfers, kernels in text form
// that the interpreter of launches runs, and a clock that counts cycles. A kernel in which
// something is found wrong, such as a race, is an error that says what and where.
#pragma once

#include "runtime/execution/device.h"
#include "targets/sim/device/machine.h"

namespace attune::sim {

extern const runtime::DeviceKind device_kind;

// A kernel with more than `most_steps` statements, of all its threads together, ends in
// ErrorCode::Exhausted; 0: no limit.
std::unique_ptr<runtime::Device> open_device(const Machine& machine, std::int64_t most_steps = 0);

}  // namespace attune::sim
