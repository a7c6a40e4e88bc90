// Steps that a schedule for another kind of target has: they name hardware that programs for this
// one do not run on.
#pragma once

#include "base/result.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::kernel {

// An error names the first of them, by its line.
Status check_own_steps(const schedule::Trace& trace, const target::Target& target);

}  // namespace attune::kernel
