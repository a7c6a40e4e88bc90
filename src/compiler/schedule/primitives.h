// One function per step, each in the file of its name. They change the state or return an error
// that names stage, loop, numbers and reason; after an error the state is not to be used.
#pragma once

#include "compiler/schedule/state.h"
#include "compiler/schedule/step.h"

namespace attune::schedule {

#define ATTUNE_STEP(Type, ...) Status apply_step(State& state, const Type& step);
#include "compiler/schedule/list.inc"

// An output is stored as the operator says; `what` is what a step would change of it.
Status require_private(const State& state, int stage, std::string_view what);

}  // namespace attune::schedule
