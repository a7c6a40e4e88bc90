// Which algorithm's program a trace is made for.
#pragma once

#include <string>

#include "compiler/schedule/trace.h"

namespace attune::schedule {

// The one that its first step names, "direct" where that names none.
std::string algorithm_of(const Trace& trace);

}  // namespace attune::schedule
