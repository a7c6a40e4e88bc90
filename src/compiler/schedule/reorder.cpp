#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

Status apply_step(State& state, const Reorder& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  std::vector<int> positions, wanted;
  for (const std::string& loop : step.loops) {
    ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], loop));
    if (std::find(positions.begin(), positions.end(), position) != positions.end()) {
      return invalid(fmt::format("reorder of stage '{}' names loop '{}' twice", step.stage, loop),
                     "name each loop once");
    }
    positions.push_back(position);
    wanted.push_back(state.stages[index]->loops[position]);
  }
  std::sort(positions.begin(), positions.end());
  StageState& stage = state.edit(index);
  for (std::size_t i = 0; i < positions.size(); ++i) stage.loops[positions[i]] = wanted[i];
  return {};
}

}  // namespace attune::schedule
