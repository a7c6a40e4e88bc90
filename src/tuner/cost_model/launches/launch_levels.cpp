#include "tuner/cost_model/launches/launch_levels.h"

namespace attune::cost_model {

using schedule::StageState;

bool is_shared(const StageState& stage) {
  return !stage.at_root() && stage.scope == ir::Scope::Shared;
}

std::vector<std::string> axes_of_levels(const schedule::State& state, std::size_t index,
                                        std::size_t own) {
  std::vector<std::string> axes;
  const StageState& stage = *state.stages[index];
  if (!stage.at_root()) {
    const auto host = static_cast<std::size_t>(state.find(stage.at_stage));
    const StageState& around = *state.stages[host];
    const auto inside = static_cast<std::size_t>(around.find_loop(stage.at_loop) + 1);
    axes = axes_of_levels(state, host, own - inside);
    axes.resize(own);
  }
  for (const int loop : stage.loops) {
    const schedule::Iter& iter = stage.iters[static_cast<std::size_t>(loop)];
    axes.push_back(iter.kind == ir::LoopKind::Bound ? iter.axis : "");
  }
  return axes;
}

}  // namespace attune::cost_model
