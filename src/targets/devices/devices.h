// The devices that the tools know: those of the runtime, and those that are simulated or otherwise
// not for others to carry along.
#pragma once

#include "runtime/execution/device.h"

namespace attune::targets {

runtime::DeviceKinds devices();

}  // namespace attune::targets
