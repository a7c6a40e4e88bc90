// Which cores a process may use, and pinning threads to them.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace attune::runtime {

// The cores the calling thread may run on, ascending; never empty.
std::vector<int> allowed_cores();

// Keeps the calling thread on the given core(s).
Status pin_current_thread(std::span<const int> cores);
Status pin_current_thread(int core);

}  // namespace attune::runtime
