// What stages of a launch do beyond the ends of their axes, where the last tile is not whole. A
// copy of global memory that threads keep, in shared memory or registers, is zero there, so that
// who computes from such copies alone may go on too: without conditions in the innermost loops, and
// to no effect, since the stage that leaves the launch stores what there is.
#pragma once

#include <optional>

#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/bounds.h"

namespace attune::lower {

enum class Beyond : std::uint8_t {
  Guarded,  // nothing is computed there
  Zero,     // all that is read is global memory: zeros are stored instead
  Free,     // it may go on, if what it reads does
};

Beyond beyond_ends(const schedule::State& state, int stage);

// Whether all that a value reads of other stages is among what is computed of them.
bool reads_inside(const ir::Expr& value, const schedule::State& state,
                  const std::vector<schedule::StageBounds>& bounds, const ir::Ranges& ranges);

// A product of what is zero beyond the ends of its axes may be added up there. The value without
// conditions that say no more than where these end; `guards`, of the same kind, are left out too.
// Nothing where it is another value.
std::optional<ir::Expr> product_beyond(const ir::Expr& value, ir::Reduction reduction,
                                       std::vector<ir::Expr>& guards, const ir::Ranges& ranges);

}  // namespace attune::lower
