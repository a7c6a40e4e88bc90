// Extents of loops from the extents of axes, and how far axes move while only the inner loops run.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/state.h"

namespace attune::schedule {

using Extents = std::vector<std::int64_t>;

// The extent of every iter, given those of the axes and reduce axes.
Extents loop_extents(const StageState& stage, const Extents& axes);

// Whether iterations of partial splits beyond the end count.
enum class Overrun { Cut, Keep };

// How many consecutive values each iter takes while the loops at positions [first_varying, end) run
// and the others stand still. An iter moves where this is more than 1; where a fused loop moves, it
// may wrap around, so what was fused takes all its values, from 0 on.
Extents iter_spans(const StageState& stage, const Extents& iter_extents, int first_varying, int end,
                   Overrun overrun);
// Of the axes and reduce axes alone.
Extents axis_spans(const StageState& stage, const Extents& iter_extents, int first_varying, int end,
                   Overrun overrun);
// All loops from `first_varying` on, not counting what lies beyond the end.
Extents axis_spans(const StageState& stage, const Extents& iter_extents, int first_varying);

// How many values an iter moves by when `loop` makes one step: the product of the inner factors of
// its split; 0 when it does not move (another axis) or the loop is fused.
std::int64_t stride_of(const StageState& stage, const Extents& iter_extents, int loop, int axis);

}  // namespace attune::schedule
