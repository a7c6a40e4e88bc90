// Bounds inference: which part of every stage is computed where it is placed. A stage at root is
// computed whole; a stage computed at a loop of another covers what the stages inside of that loop
// read during one iteration of it.
#pragma once

#include "compiler/schedule/extents.h"
#include "compiler/schedule/state.h"

namespace attune::schedule {

struct StageBounds {
  Extents axes;               // extents of the region, axes then reduce axes
  Extents iters;              // extents of all iters
  std::vector<ir::Expr> min;  // where the region begins, one per axis; only when asked for
};

// With mins: expressions over loop variables named loop_variable(stage, loop).
enum class Mins { Leave, Compute };
Result<std::vector<StageBounds>> infer_bounds(const State& state, Mins mins);

// The variable of a loop in the lowered program: unique among stages, made of letters, digits, '_'.
std::string loop_variable(const StageState& stage, int iter);

}  // namespace attune::schedule
