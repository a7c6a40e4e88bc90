// Loops bound to hardware: which axes there are, and what must hold among the stages of a schedule
// that uses them. A root stage with all that is computed within it is one launch; its block loops
// come first, and the memory of a stage says who computes it: one in shared memory is computed by
// all threads of a block together, for all of them; one on the stack or in registers by each thread
// for itself.
#pragma once

#include <span>
#include <string_view>

#include "compiler/schedule/state.h"

namespace attune::schedule {

// From the slowest to the fastest: block.z, block.y, block.x, thread.z, thread.y, thread.x.
std::span<const std::string_view> hardware_axes();
bool is_block_axis(std::string_view axis);

// Whether any loop is bound: the program is for a device with blocks and threads.
bool has_bound_loops(const State& state);
// Computed by the threads of a block together: attached, and in shared memory.
bool is_shared(const StageState& stage);
// The root stage within which a stage is computed; the stage itself when that is gone.
int root_of(const State& state, int stage);

// What single steps cannot know, since later ones may mend it: bounds inference asks for it.
Status check_bindings(const State& state);

}  // namespace attune::schedule
