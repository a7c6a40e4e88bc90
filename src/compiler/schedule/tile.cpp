#include "compiler/schedule/primitives.h"

namespace attune::schedule {

Status apply_step(State& state, const Tile& step) {
  ATTUNE_RETURN_IF_ERROR(apply_step(state, Split{step.stage, step.x, {step.x_factor}}));
  ATTUNE_RETURN_IF_ERROR(apply_step(state, Split{step.stage, step.y, {step.y_factor}}));
  return apply_step(
      state, Reorder{step.stage, {step.x + ".0", step.y + ".0", step.x + ".1", step.y + ".1"}});
}

}  // namespace attune::schedule
