// A plan for a device with memory of its own, made of one that keeps everything in the host's.
#pragma once

#include "runtime/format/plan.h"

namespace attune::model {

// Every value lives in the device's arena, at the position that it had in the host's. What the host
// looks at (operands of its operators, conditions, trip counts) and what comes from it or goes back
// to it is copied where it is needed.
runtime::Plan on_device(const runtime::Plan& plan);

}  // namespace attune::model
