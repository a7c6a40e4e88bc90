#include "tuner/space/register_tile.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::space {
namespace {

using schedule::StageState;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool in_body(ir::LoopKind kind) {
  return kind == ir::LoopKind::Unrolled || kind == ir::LoopKind::Vectorized;
}

// The axis that a loop is a part of, or -1 for a fused one.
int axis_of(const StageState& stage, int loop) {
  const int axes = static_cast<int>(stage.stage.axes.size() + stage.stage.reduce_axes.size());
  while (loop >= axes) {
    int parent = -1;
    for (const schedule::Relation& relation : stage.relations) {
      const auto* split = std::get_if<schedule::SplitRelation>(&relation);
      if (!split) continue;
      for (int child : split->children) {
        if (child == loop) parent = split->parent;
      }
    }
    if (parent < 0) return -1;
    loop = parent;
  }
  return loop;
}

std::int64_t vectors_of(const Spans& spans, std::size_t axes, int vector_axis, std::int64_t lanes) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    count *= static_cast<int>(i) == vector_axis ? ceil_div(spans[i], lanes) : spans[i];
  }
  return count;
}

bool reads_axis(const schedule::Access& access, const Spans& spans, std::size_t axis) {
  const auto& axes = spans.stage->axes;
  const std::string& name =
      axis < axes.size() ? axes[axis].name : spans.stage->reduce_axes[axis - axes.size()].name;
  return std::any_of(access.dims.begin(), access.dims.end(), [&](const schedule::AccessDim& dim) {
    if (!dim.linear) return ir::uses_var(dim.index, name);
    return std::any_of(dim.terms.begin(), dim.terms.end(),
                       [&](const auto& term) { return term.first == static_cast<int>(axis); });
  });
}

// Different elements that are read along one dimension; where the index moves in steps, fewer than
// lie between the first and the last.
std::int64_t elements_along(const schedule::AccessDim& dim, const Spans& spans,
                            std::int64_t whole) {
  const std::int64_t range = dim_span(dim, spans, whole);
  if (!dim.linear) return range;
  std::int64_t values = 1;
  for (const auto& [axis, coefficient] : dim.terms) values *= spans[static_cast<std::size_t>(axis)];
  return std::min(range, values);
}

// Vectors whose lanes come from all over: nothing of one is found in another.
std::int64_t gathered_vectors(const schedule::Access& access, const RegisterTile& tile,
                              const Spans& spans) {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < spans.size; ++axis) {
    if (spans[axis] == 1 || !reads_axis(access, spans, axis)) continue;
    count *= static_cast<int>(axis) == tile.vector_axis ? ceil_div(spans[axis], tile.lanes)
                                                        : spans[axis];
  }
  return count;
}

}  // namespace

RegisterTile register_tile(const StageState& stage, const schedule::StageBounds& bounds,
                           const target::Target& target) {
  RegisterTile tile;
  tile.in_registers = stage.scope == ir::Scope::Register;
  tile.body = static_cast<int>(stage.loops.size());
  while (tile.body > 0) {
    const int loop = stage.loops[static_cast<std::size_t>(tile.body - 1)];
    if (!in_body(stage.iters[loop].kind) && bounds.iters[loop] > 1) break;
    --tile.body;
  }
  std::int64_t width = 1;
  for (int loop : stage.loops) {
    if (stage.iters[loop].kind != ir::LoopKind::Vectorized) continue;
    tile.vector_axis = axis_of(stage, loop);
    width = bounds.iters[loop];
  }
  if (width > 1) {
    const std::int64_t most = target.lanes(static_cast<int>(stage.stage.outputs[0]->type.bytes()));
    tile.lanes = std::max<std::int64_t>(1, std::min(width, most));
  }
  tile.spans = spans_within(stage, bounds.iters, tile.body);
  const std::size_t axes = stage.stage.axes.size();
  tile.results = vectors_of(tile.spans, axes, tile.vector_axis, tile.lanes);
  for (std::size_t i = axes; i < tile.spans.size; ++i) tile.steps *= tile.spans[i];
  Spans region = tile.spans;
  for (std::size_t i = 0; i < axes; ++i) region[i] = bounds.axes[i];
  tile.kept = vectors_of(region, axes, tile.vector_axis, tile.lanes);
  return tile;
}

OperandLoads operand_loads(const schedule::Access& access,
                           const std::vector<schedule::LayoutTerm>& layout,
                           const RegisterTile& tile, const Spans& spans) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < access.dims.size(); ++d) {
    elements *= elements_along(access.dims[d], spans, access.buffer->shape[d]);
  }
  if (tile.lanes == 1) return {0, elements, 0};
  const auto axis = static_cast<std::size_t>(tile.vector_axis < 0 ? 0 : tile.vector_axis);
  const std::int64_t span = spans[axis];
  const std::int64_t stride =
      tile.vector_axis < 0
          ? 1
          : memory_stride(*spans.stage, access, layout, axis, std::min(span, tile.lanes));
  if (stride == 0) return {0, elements, 0};
  const std::int64_t vectors = std::max<std::int64_t>(1, ceil_div(elements, tile.lanes));
  if (stride == 1) return {vectors, 0, 0};
  return {0, 0, gathered_vectors(access, tile, spans)};
}

std::int64_t registers_needed(const schedule::State& state, const StageState& stage,
                              const RegisterTile& tile) {
  Spans step = tile.spans;
  for (std::size_t i = stage.stage.axes.size(); i < step.size; ++i) step[i] = 1;
  std::int64_t all = 0, largest = 0;
  for (const schedule::Access& access : stage.accesses) {
    const std::int64_t loads =
        operand_loads(access, layout_of(state, access.buffer), tile, step).total();
    all += loads;
    largest = std::max(largest, loads);
  }
  const std::int64_t results = tile.in_registers ? tile.kept : tile.results;
  return results + (all - largest) + 1;
}

std::int64_t registers_asked_for(const schedule::State& state, const StageState& stage,
                                 const schedule::StageBounds& bounds, const RegisterTile& tile) {
  Spans step = tile.spans;
  for (std::size_t i = stage.stage.axes.size(); i < step.size; ++i) step[i] = 1;
  Spans still = step;
  for (std::size_t position = stage.loops.size(); position-- > 0;) {
    const int loop = stage.loops[position];
    const schedule::Iter& iter = stage.iters[loop];
    if (iter.kind != ir::LoopKind::Unrolled || iter.reduce || bounds.iters[loop] < 2) continue;
    if (const int axis = axis_of(stage, loop); axis >= 0) {
      still[static_cast<std::size_t>(axis)] =
          axis == tile.vector_axis ? std::min(tile.lanes, step[static_cast<std::size_t>(axis)]) : 1;
    }
    break;
  }
  std::int64_t held = 0;
  for (const schedule::Access& access : stage.accesses) {
    const auto& layout = layout_of(state, access.buffer);
    const std::int64_t all = operand_loads(access, layout, tile, step).total();
    if (all > operand_loads(access, layout, tile, still).total()) held += all;
  }
  return (tile.in_registers ? tile.kept : tile.results) + held + 1;
}

const std::vector<schedule::LayoutTerm>& layout_of(const schedule::State& state,
                                                   const ir::Buffer& buffer) {
  static const std::vector<schedule::LayoutTerm> kRowMajor;
  const int producer = state.producer_of(buffer);
  return producer < 0 ? kRowMajor : state.stages[static_cast<std::size_t>(producer)]->layout;
}

}  // namespace attune::space
