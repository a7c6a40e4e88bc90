// A CUDA card as the runtime sees it. Nothing of CUDA is started before the device is used: a model
// that is loaded in one process may run in a fork of it.
#pragma once

#include "runtime/execution/device.h"

namespace attune::cuda {

extern const runtime::DeviceKind device_kind;

}  // namespace attune::cuda
