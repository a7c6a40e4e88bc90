#include "tuner/space/limits.h"

#include "tuner/space/register_tile.h"

namespace attune::space {
namespace {

using schedule::StageBounds;
using schedule::StageState;

std::int64_t statements(const StageState& stage, const StageBounds& bounds) {
  std::int64_t count = 1;
  for (int loop : stage.loops) {
    if (stage.iters[loop].kind == ir::LoopKind::Unrolled) count *= bounds.iters[loop];
  }
  return count;
}

std::int64_t buffer_bytes(const StageState& stage, const StageBounds& bounds) {
  std::int64_t bytes = stage.stage.outputs[0]->type.bytes();
  for (std::size_t i = 0; i < stage.stage.axes.size(); ++i) bytes *= bounds.axes[i];
  return bytes;
}

}  // namespace

std::optional<std::string_view> find_flaw(const schedule::State& state,
                                          const std::vector<StageBounds>& bounds,
                                          const target::Target& target, const Limits& limits) {
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const StageState& stage = *state.stages[i];
    if (statements(stage, bounds[i]) > limits.unrolled_statements) return "too much unrolled code";
    const std::int64_t bytes = buffer_bytes(stage, bounds[i]);
    if (bytes > limits.workspace_bytes) return "a buffer exceeds the memory";
    if (stage.scope == ir::Scope::Stack && bytes > limits.stack_bytes) {
      return "a buffer exceeds the stack";
    }
    if (limits.spills && stage.scope == ir::Scope::Register &&
        stage.stage.reduction != ir::Reduction::None) {
      const RegisterTile tile = register_tile(stage, bounds[i], target);
      if (registers_needed(state, stage, tile) > target.vector_registers) {
        return "the register tile spills";
      }
    }
  }
  return std::nullopt;
}

}  // namespace attune::space
