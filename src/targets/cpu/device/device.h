// The processor as a device: kernels are functions of ELF shared objects, which work in the host's
// memory on the threads of a pool. Every launch is done when it returns.
#pragma once

#include "runtime/execution/device.h"

namespace attune::cpu {

extern const runtime::DeviceKind device_kind;

}  // namespace attune::cpu
