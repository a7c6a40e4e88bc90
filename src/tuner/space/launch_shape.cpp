#include "tuner/space/launch_shape.h"

#include <algorithm>

#include "compiler/schedule/bindings.h"

namespace attune::space {

using schedule::StageBounds;
using schedule::StageState;

std::int64_t storage_bytes(const StageState& stage, const StageBounds& bounds) {
  std::int64_t elements = 1, row = 1, first = 0;
  const auto add = [&](std::int64_t extent) {
    if (first == 0) first = extent;
    elements *= extent;
    row = extent;
  };
  if (stage.layout.empty()) {
    for (std::size_t a = 0; a < stage.stage.axes.size(); ++a) add(bounds.axes[a]);
  }
  for (const schedule::LayoutTerm& term : stage.layout) {
    const std::int64_t extent = bounds.axes[static_cast<std::size_t>(term.axis)];
    add(term.modulo > 0 ? term.modulo : (extent + term.divide - 1) / term.divide);
  }
  const auto& [factor, offset] = stage.padding;
  const std::int64_t over = ((offset - row) % factor + factor) % factor;
  std::int64_t bytes = 0;
  for (const ir::Buffer& output : stage.stage.outputs) bytes += output->type.bytes();
  const std::int64_t all =
      elements / std::max<std::int64_t>(row, 1) * (row + over) + first * stage.gap;
  return all * bytes * stage.buffers;
}

namespace {

// Whether all loops of a stage up to that one are over blocks and threads.
bool bound_up_to(const StageState& stage, const std::string& loop) {
  const int last = stage.find_loop(loop);
  for (int i = 0; i <= last; ++i) {
    const auto at = static_cast<std::size_t>(stage.loops[static_cast<std::size_t>(i)]);
    if (stage.iters[at].kind != ir::LoopKind::Bound) return false;
  }
  return last >= 0;
}

// What shared memory that is used within a stage's own loops, and done with before it is stored,
// lends it (lower/launches/overlay_shared.cpp).
std::int64_t lent_bytes(const schedule::State& state, const std::vector<StageBounds>& bounds,
                        std::size_t index) {
  const StageState& stage = *state.stages[index];
  const int host = state.find(stage.at_stage);
  if (!schedule::is_shared(stage) || host < 0 ||
      !bound_up_to(*state.stages[static_cast<std::size_t>(host)], stage.at_loop)) {
    return 0;
  }
  std::int64_t most = 0;
  for (std::size_t i = 0; i < index; ++i) {
    const StageState& other = *state.stages[i];
    const int around = state.find(other.at_stage);
    if (!schedule::is_shared(other) || around < 0) continue;
    const StageState& reader = *state.stages[static_cast<std::size_t>(around)];
    const bool within = reader.at_stage == stage.stage.name && bound_up_to(stage, reader.at_loop);
    const bool same = other.stage.outputs[0]->type == stage.stage.outputs[0]->type;
    if (within && same) most = std::max(most, storage_bytes(other, bounds[i]));
  }
  return std::min(most, storage_bytes(stage, bounds[index]));
}

}  // namespace

std::vector<LaunchShape> launch_shapes(const schedule::State& state,
                                       const std::vector<StageBounds>& bounds) {
  std::vector<LaunchShape> shapes;
  std::vector<std::size_t> place(state.stages.size());
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    if (!state.stages[i]->at_root()) continue;
    place[i] = shapes.size();
    shapes.push_back({.root = i});
  }
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const StageState& stage = *state.stages[i];
    const auto root = static_cast<std::size_t>(schedule::root_of(state, static_cast<int>(i)));
    LaunchShape& shape = shapes[place[root]];
    for (const int loop : stage.loops) {
      const schedule::Iter& iter = stage.iters[static_cast<std::size_t>(loop)];
      if (iter.kind != ir::LoopKind::Bound) continue;
      auto& extents = schedule::is_block_axis(iter.axis) ? shape.blocks : shape.threads;
      std::int64_t& extent = extents[dimension_of(iter.axis)];
      extent = std::max(extent, bounds[i].iters[static_cast<std::size_t>(loop)]);
    }
    if (stage.at_root()) continue;
    const std::int64_t bytes = storage_bytes(stage, bounds[i]);
    if (stage.scope == ir::Scope::Shared) {
      shape.shared_bytes += bytes - lent_bytes(state, bounds, i);
    } else if (stage.scope == ir::Scope::Register) {
      shape.register_bytes += bytes;
    }
  }
  return shapes;
}

}  // namespace attune::space
