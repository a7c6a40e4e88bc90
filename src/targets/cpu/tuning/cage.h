// What kernels on the processor may ask the system for: they compute on threads that are there
// before they run.
#pragma once

#include "base/cage/host_calls.h"

namespace attune::cpu {

inline constexpr CageRules kCage{.calls = kHostCalls};

}  // namespace attune::cpu
