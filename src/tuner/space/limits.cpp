#include "tuner/space/limits.h"

#include <algorithm>

#include "tuner/space/launch_shape.h"
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

// What a device with blocks and threads has no room for.
std::optional<std::string_view> find_launch_flaw(const schedule::State& state,
                                                 const std::vector<StageBounds>& bounds,
                                                 const target::LaunchFacts& device) {
  for (const LaunchShape& shape : launch_shapes(state, bounds)) {
    const std::int64_t threads = shape.thread_count();
    if (threads > device.threads_per_block) return "too many threads in a block";
    if (shape.too_many_blocks()) return "too many blocks along one axis";
    if (shape.shared_bytes > device.shared_bytes) return "too much shared memory in a block";
    const std::int64_t most =
        std::min(device.register_bytes, device.resident_register_bytes / threads);
    if (shape.register_bytes > most) return "too many registers in a thread";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> find_flaw(const schedule::State& state,
                                          const std::vector<StageBounds>& bounds,
                                          const target::Target& target, const Limits& limits) {
  if (target.launch.are_there()) {
    if (const auto flaw = find_launch_flaw(state, bounds, target.launch)) return flaw;
  }
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
