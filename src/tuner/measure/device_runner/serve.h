// The process that holds a device: opens it when asked to, and does with candidates what the line
// says, until the other end is gone. It runs code that may crash or hang it; the process at the
// other end judges that.
#pragma once

#include "runtime/execution/device.h"

namespace attune::device_runner {

// The exit status of the process.
int serve(int line, runtime::DeviceKinds kinds);

}  // namespace attune::device_runner
