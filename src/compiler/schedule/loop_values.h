// Values of axes as expressions over loop variables, and the guards that partial splits need.
#pragma once

#include <vector>

#include "compiler/schedule/extents.h"
#include "compiler/schedule/state.h"

namespace attune::schedule {

// Given the values of the present loops (by iter index), fills in those of the iters they came
// from.
void fill_values(const StageState& stage, const Extents& iter_extents,
                 std::vector<ir::Expr>& values);

// The same while the loops at positions >= `first_varying` run: where the values of each iter begin
// (axis_spans says how many there are).
void fill_beginnings(const StageState& stage, const Extents& iter_extents, int first_varying,
                     std::vector<ir::Expr>& values);

enum class Loops { All, Reduce };
// One condition per split that does not divide: the split iter stays below its extent.
std::vector<ir::Expr> split_guards(const StageState& stage, const Extents& iter_extents,
                                   const std::vector<ir::Expr>& values, Loops which);

}  // namespace attune::schedule
