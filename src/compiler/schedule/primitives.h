// One function per step, each in the file of its name. They change the state or return an error
// that names stage, loop, numbers and reason; after an error the state is not to be used.
#pragma once

#include "compiler/schedule/state.h"
#include "compiler/schedule/step.h"

namespace attune::schedule {

Status apply_step(State& state, const Algorithm& step);
Status apply_step(State& state, const Split& step);
Status apply_step(State& state, const Fuse& step);
Status apply_step(State& state, const Reorder& step);
Status apply_step(State& state, const Tile& step);
Status apply_step(State& state, const Parallel& step);
Status apply_step(State& state, const Vectorize& step);
Status apply_step(State& state, const Unroll& step);
Status apply_step(State& state, const ComputeAt& step);
Status apply_step(State& state, const Inline& step);
Status apply_step(State& state, const Root& step);
Status apply_step(State& state, const CacheRead& step);
Status apply_step(State& state, const CacheWrite& step);
Status apply_step(State& state, const Rfactor& step);
Status apply_step(State& state, const SetScope& step);
Status apply_step(State& state, const Layout& step);
Status apply_step(State& state, const Annotate& step);
Status apply_step(State& state, const Bind& step);
Status apply_step(State& state, const StorageAlign& step);
Status apply_step(State& state, const Tensorize& step);

// An output is stored as the operator says; `what` is what a step would change of it.
Status require_private(const State& state, int stage, std::string_view what);

}  // namespace attune::schedule
