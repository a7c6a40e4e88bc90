// How far the axes of a stage move while some of its loops run: the common currency of static
// rejection and the analytic model. Fixed-size values, so that a hundred thousand schedules can be
// looked at without touching the heap.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/schedule/bounds.h"

namespace attune::space {

// Values that each axis, then each reduce axis takes: mostly consecutive ones.
struct Spans {
  static constexpr std::size_t kMax = 16;
  std::array<std::int64_t, kMax> values;
  std::size_t size = 0;
  const ir::Stage* stage = nullptr;  // whose axes these are

  std::int64_t operator[](std::size_t i) const { return values[i]; }
  std::int64_t& operator[](std::size_t i) { return values[i]; }
};

// While the loops at positions >= `first` run.
Spans spans_within(const schedule::StageState& stage, const schedule::Extents& iter_extents,
                   int first);

// The values that an index that is not linear takes, as far as divisions and remainders let one
// tell (tiles are taken to be aligned); `whole` otherwise.
std::int64_t general_span(const ir::Expr& index, const Spans& spans, std::int64_t whole);

// The values that one dimension of an access takes, at most `whole`.
inline std::int64_t dim_span(const schedule::AccessDim& dim, const Spans& spans,
                             std::int64_t whole) {
  if (!dim.linear) return general_span(dim.index, spans, whole);
  std::int64_t span = 1;
  for (const auto& [axis, coefficient] : dim.terms) {
    span += (spans[static_cast<std::size_t>(axis)] - 1) *
            (coefficient < 0 ? -coefficient : coefficient);
  }
  return span < whole ? span : whole;
}

// The distance in memory, in elements, between neighbours along `axis` of the reading stage, in
// steps of one; 0 when the access does not depend on the axis, -1 when it is irregular. `layout` is
// that of the stage that made the buffer, empty for row-major.
std::int64_t memory_stride(const ir::Stage& reader, const schedule::Access& access,
                           const std::vector<schedule::LayoutTerm>& layout, std::size_t axis,
                           std::int64_t span);

}  // namespace attune::space
