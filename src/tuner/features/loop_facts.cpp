#include "tuner/features/loop_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attune::features {
namespace {

using space::Level;
using space::Spans;
using space::StageNest;

// Where there is no telling how far apart two elements lie, they are taken to be in other pages.
constexpr double kIrregular = 8192;

// One buffer that the stage reads, or its results.
struct Operand {
  const schedule::Access* access = nullptr;  // none: the results
  const std::vector<schedule::LayoutTerm>* layout = nullptr;
  std::size_t slot = kResult;
  std::size_t made_at = 0;  // outside of this level it is always the same memory
  double element_bytes = 4;
};

std::size_t slot_of(const ir::Stage& stage, const schedule::Access& access,
                    const std::vector<schedule::LayoutTerm>& layout,
                    const space::RegisterTile& tile) {
  const std::size_t axis = tile.vector_axis >= 0 ? static_cast<std::size_t>(tile.vector_axis)
                                                 : std::max<std::size_t>(1, stage.axes.size()) - 1;
  if (axis >= tile.spans.size) return kMoving;
  return space::memory_stride(stage, access, layout, axis, tile.lanes) == 0 ? kStill : kMoving;
}

std::vector<Operand> operands_of(const schedule::State& state, const std::vector<StageNest>& nests,
                                 std::size_t index, const space::RegisterTile& tile) {
  const schedule::StageState& stage = *state.stages[index];
  std::vector<Operand> operands;
  operands.reserve(stage.accesses.size() + 1);
  for (const schedule::Access& access : stage.accesses) {
    const auto& layout = space::layout_of(state, access.buffer);
    const int producer = state.producer_of(access.buffer);
    operands.push_back({&access, &layout, slot_of(stage.stage, access, layout, tile),
                        producer < 0 ? 0 : nests[static_cast<std::size_t>(producer)].own,
                        static_cast<double>(access.buffer->type.bytes())});
  }
  operands.push_back({nullptr, &stage.layout, kResult, nests[index].own,
                      static_cast<double>(stage.stage.outputs[0]->type.bytes())});
  return operands;
}

double elements_of(const Operand& operand, const ir::Stage& stage, const Spans& spans) {
  double count = 1;
  if (!operand.access) {
    for (std::size_t a = 0; a < stage.axes.size(); ++a) count *= static_cast<double>(spans[a]);
    return count;
  }
  for (std::size_t d = 0; d < operand.access->dims.size(); ++d) {
    const std::int64_t whole = operand.access->buffer->shape[d];
    count *= static_cast<double>(space::dim_span(operand.access->dims[d], spans, whole));
  }
  return count;
}

// Elements between the results of neighbouring values of an axis, row-major.
double result_stride(const ir::Stage& stage, std::size_t axis) {
  if (axis >= stage.axes.size()) return 0;
  double stride = 1;
  for (std::size_t a = axis + 1; a < stage.axes.size(); ++a) {
    stride *= static_cast<double>(stage.axes[a].extent);
  }
  return stride;
}

// Bytes between two iterations of a loop that widens the spans from `inner` to `outer`.
double stride_of(const Operand& operand, const ir::Stage& stage, const Spans& outer,
                 const Spans& inner) {
  double longest = 0;
  for (std::size_t axis = 0; axis < outer.size; ++axis) {
    if (outer[axis] == inner[axis]) continue;
    double stride = 0;
    if (operand.access) {
      const std::int64_t elements =
          space::memory_stride(stage, *operand.access, *operand.layout, axis, inner[axis]);
      stride = elements < 0 ? kIrregular : static_cast<double>(elements);
    } else {
      stride = result_stride(stage, axis);
    }
    longest = std::max(longest, stride * static_cast<double>(inner[axis]) * operand.element_bytes);
  }
  return longest;
}

// From the innermost loop outward: what each buffer touches, the stage's own or those around it.
void add_touches(const Operand& operand, const ir::Stage& stage, const StageNest& nest,
                 const Spans& still, std::vector<LoopFacts>& loops) {
  Touch last;
  for (std::size_t level = loops.size(); level-- > 0;) {
    const Spans& outer = nest.levels[level].spans;
    const Spans& inner = level + 1 < loops.size() ? nest.levels[level + 1].spans : still;
    Touch touch{last.elements, last.bytes, 0};
    if (level >= operand.made_at || level + 1 == loops.size()) {
      touch.elements = elements_of(operand, stage, outer);
      touch.bytes = operand.access
                        ? space::touched_bytes(*operand.access, outer, operand.layout->empty())
                        : space::written_bytes(stage, outer);
      touch.stride = stride_of(operand, stage, outer, inner);
    }
    last = touch;
    Touch& sum = loops[level].touches[operand.slot];
    sum.elements += touch.elements;
    sum.bytes += touch.bytes;
    sum.stride = std::max(sum.stride, touch.stride);
  }
}

void fill_counts(const StageNest& nest, std::size_t axes, const Spans& still,
                 std::vector<LoopFacts>& loops) {
  double outside = 1, inside = 1;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    LoopFacts& loop = loops[i];
    loop.extent = static_cast<double>(nest.levels[i].extent);
    loop.kind = nest.levels[i].kind;
    loop.outside = outside *= loop.extent;
    const Spans& inner = i + 1 < loops.size() ? nest.levels[i + 1].spans : still;
    for (std::size_t axis = axes; axis < inner.size; ++axis) {
      loop.reduce |= nest.levels[i].spans[axis] != inner[axis];
    }
  }
  for (std::size_t i = loops.size(); i-- > 0;) loops[i].inside = inside *= loops[i].extent;
}

}  // namespace

double LoopFacts::reuse(std::size_t slot) const {
  return touches[slot].elements > 0 ? std::max(1.0, inside / touches[slot].elements) : 1;
}

StageFacts stage_facts(const schedule::State& state,
                       const std::vector<schedule::StageBounds>& bounds,
                       const std::vector<StageNest>& nests, std::size_t index,
                       const target::Target& target) {
  const schedule::StageState& stage = *state.stages[index];
  const StageNest& nest = nests[index];
  StageFacts facts{
      index, nest.own, nest.iterations(), space::register_tile(stage, bounds[index], target), {}};
  facts.loops.resize(nest.levels.size());
  Spans still = facts.tile.spans;
  for (std::size_t i = 0; i < still.size; ++i) still[i] = 1;
  fill_counts(nest, stage.stage.axes.size(), still, facts.loops);
  for (std::size_t i = nest.own; i < facts.loops.size(); ++i) {
    facts.loops[i].noted = !stage.iters[stage.loops[i - nest.own]].notes.empty();
  }
  for (const Operand& operand : operands_of(state, nests, index, facts.tile)) {
    add_touches(operand, stage.stage, nest, still, facts.loops);
  }
  return facts;
}

std::vector<std::size_t> busiest_stages(const std::vector<StageNest>& nests) {
  std::vector<std::size_t> stages;
  std::vector<double> iterations(nests.size());
  for (std::size_t i = 0; i < nests.size(); ++i) {
    iterations[i] = nests[i].iterations();
    if (!nests[i].ahead) stages.push_back(i);
  }
  std::stable_sort(stages.begin(), stages.end(),
                   [&](std::size_t a, std::size_t b) { return iterations[a] > iterations[b]; });
  return stages;
}

float log_of(double number) {
  return number > 1 ? std::log2(static_cast<float>(std::min(number, 1e30))) : 0;
}

float log_ratio(double numerator, double denominator) {
  if (numerator <= 0) return denominator <= 0 ? 0.0F : -30.0F;
  if (denominator <= 0) return 30;
  return std::clamp(std::log2(static_cast<float>(numerator / denominator)), -30.0F, 30.0F);
}

void encode_loop(const LoopFacts& loop, float* out) {
  *out++ = log_of(loop.extent);
  for (ir::LoopKind kind : {ir::LoopKind::Parallel, ir::LoopKind::Vectorized,
                            ir::LoopKind::Unrolled, ir::LoopKind::Bound}) {
    *out++ = loop.kind == kind ? 1 : 0;
  }
  *out++ = loop.reduce ? 1 : 0;
  *out++ = loop.noted ? 1 : 0;
  *out++ = log_of(loop.outside);
  *out++ = log_of(loop.inside);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    *out++ = log_of(loop.touches[slot].elements);
    *out++ = log_of(loop.touches[slot].bytes);
    *out++ = log_of(loop.reuse(slot));
    *out++ = log_of(loop.touches[slot].stride);
  }
}

}  // namespace attune::features
