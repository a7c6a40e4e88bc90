#include <fmt/format.h>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/schedule/primitives.h"
#include "compiler/schedule/rewrite_stage.h"

namespace attune::schedule {

Status apply_step(State& state, const Inline& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  const auto inlined = state.stages[index];
  const ir::Stage& stage = inlined->stage;
  if (stage.reduction != ir::Reduction::None) {
    return invalid(fmt::format("stage '{}' is a reduction and cannot be inlined", step.stage),
                   "use compute_at");
  }
  if (state.is_output(index)) {
    return invalid(fmt::format("stage '{}' is an output and cannot be inlined", step.stage),
                   "inline its producers instead");
  }
  for (int consumer : state.consumers_of(index)) {
    rewrite_values(state.edit(consumer), [&](const ir::Expr& value) {
      return ir::replace_loads(value, stage.outputs[0], [&](const std::vector<ir::Expr>& at) {
        ir::Bindings bindings;
        for (std::size_t i = 0; i < at.size(); ++i) bindings[stage.axes[i].name] = at[i];
        return ir::substitute(stage.values[0], bindings);
      });
    });
  }
  for (const auto& other : state.stages) {
    if (other->at_stage == step.stage) {
      return invalid(
          fmt::format("stage '{}' is computed within '{}'", other->stage.name, step.stage),
          "inline before placing other stages in it");
    }
  }
  state.stages.erase(state.stages.begin() + index);
  return {};
}

}  // namespace attune::schedule
