#include "tuner/space/spans.h"

#include <algorithm>

namespace attune::space {
namespace {

using schedule::FuseRelation;
using schedule::SplitRelation;
using schedule::StageState;

constexpr std::size_t kMaxIters = 64;

// Carries the spans of the present loops back to the axes they came from.
void fold_back(const StageState& stage, const schedule::Extents& extents,
               std::array<std::int64_t, kMaxIters>& spans) {
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    if (const auto* split = std::get_if<SplitRelation>(&*r)) {
      std::int64_t span = 1, stride = 1;
      for (std::size_t i = split->children.size(); i-- > 0;) {
        const auto child = static_cast<std::size_t>(split->children[i]);
        span += (spans[child] - 1) * stride;
        stride *= extents[child];
      }
      const auto parent = static_cast<std::size_t>(split->parent);
      spans[parent] = std::min(span, extents[parent]);
    } else {
      const auto& fuse = std::get<FuseRelation>(*r);
      for (int parent : fuse.parents) {
        const auto p = static_cast<std::size_t>(parent);
        spans[p] = spans[static_cast<std::size_t>(fuse.child)] == 1 ? 1 : extents[p];
      }
    }
  }
}

Spans axes_only(const StageState& stage, const std::array<std::int64_t, kMaxIters>& spans) {
  Spans result;
  result.size = stage.stage.axes.size() + stage.stage.reduce_axes.size();
  CHECK(result.size <= Spans::kMax, "a stage has too many axes");
  std::copy_n(spans.begin(), result.size, result.values.begin());
  return result;
}

std::int64_t row_major_stride(const schedule::Access& access, std::size_t axis) {
  std::int64_t stride = 0, size = 1;
  for (std::size_t d = access.dims.size(); d-- > 0;) {
    const schedule::AccessDim& dim = access.dims[d];
    if (!dim.linear) return -1;
    for (const auto& [term, coefficient] : dim.terms) {
      if (term == static_cast<int>(axis)) stride += coefficient * size;
    }
    size *= access.buffer->shape[d];
  }
  return stride;
}

}  // namespace

Spans spans_within(const StageState& stage, const schedule::Extents& iter_extents, int first) {
  CHECK(stage.iters.size() <= kMaxIters, "a stage has too many loops");
  std::array<std::int64_t, kMaxIters> spans;
  std::fill_n(spans.begin(), stage.iters.size(), 1);
  for (std::size_t i = static_cast<std::size_t>(first); i < stage.loops.size(); ++i) {
    const auto loop = static_cast<std::size_t>(stage.loops[i]);
    spans[loop] = iter_extents[loop];
  }
  fold_back(stage, iter_extents, spans);
  return axes_only(stage, spans);
}

Spans spans_of_loops(const StageState& stage, const schedule::Extents& iter_extents,
                     const std::vector<bool>& varies) {
  CHECK(stage.iters.size() <= kMaxIters, "a stage has too many loops");
  std::array<std::int64_t, kMaxIters> spans;
  std::fill_n(spans.begin(), stage.iters.size(), 1);
  for (int loop : stage.loops) {
    const auto i = static_cast<std::size_t>(loop);
    if (varies[i]) spans[i] = iter_extents[i];
  }
  fold_back(stage, iter_extents, spans);
  return axes_only(stage, spans);
}

std::int64_t memory_stride(const schedule::Access& access,
                           const std::vector<schedule::LayoutTerm>& layout, std::size_t axis,
                           std::int64_t span) {
  if (layout.empty()) return row_major_stride(access, axis);
  std::int64_t stride = 0, size = 1;
  for (std::size_t t = layout.size(); t-- > 0;) {
    const schedule::LayoutTerm& term = layout[t];
    const auto d = static_cast<std::size_t>(term.axis);
    const schedule::AccessDim& dim = access.dims[d];
    if (!dim.linear) return -1;
    std::int64_t coefficient = 0;
    for (const auto& [a, c] : dim.terms) coefficient += a == static_cast<int>(axis) ? c : 0;
    if (coefficient != 0 && term.divide == 1) {
      if (term.modulo != 0 && coefficient * span > term.modulo) return -1;
      stride += coefficient * size;
    }
    const std::int64_t whole = (access.buffer->shape[d] + term.divide - 1) / term.divide;
    size *= term.modulo != 0 ? term.modulo : whole;
  }
  return stride;
}

}  // namespace attune::space
