// Work that stands for the stages of tuning, to be repeated: compiling, learning, and running
// something that is bound by arithmetic or by memory.
#pragma once

#include <cstddef>
#include <string_view>

#include "app/calibration/looping_child.h"

namespace attune::calibration {

// By the names of fleet/jobs/simulation/colocation_file.h. What runs takes so many threads; what
// the host does takes one.
LoopingChild::Prepare workload_like(std::string_view name, std::size_t threads);

}  // namespace attune::calibration
