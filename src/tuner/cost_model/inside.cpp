#include <algorithm>

#include "tuner/cost_model/stage_cost.h"

namespace attune::cost_model {
namespace {

// Numbers i of [0, extent) for which 0 <= factor * i + start < size.
std::int64_t count_inside(std::int64_t factor, std::int64_t extent, std::int64_t start,
                          std::int64_t size) {
  const auto at_least = [&](std::int64_t bound) {  // those below which it is less than the bound
    const std::int64_t distance = bound - start;
    return std::clamp<std::int64_t>((distance + factor - 1) / factor, 0, extent);
  };
  return at_least(size) - at_least(0);
}

// Values of all terms but one that are looked at, one by one.
constexpr std::int64_t kMostPlaces = 1 << 12;

std::int64_t extent_of(const ir::Stage& stage, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  return a < stage.axes.size() ? stage.axes[a].extent
                               : stage.reduce_axes[a - stage.axes.size()].extent;
}

// The part of an index's values that lie inside of a dimension of this size.
double part_inside(const schedule::AccessDim& dim, const ir::Stage& stage, std::int64_t size) {
  if (!dim.linear || dim.terms.empty()) return 1;
  std::int64_t last = dim.constant, places = 1;
  std::size_t longest = 0;  // which is counted in one go
  for (std::size_t t = 0; t < dim.terms.size(); ++t) {
    const auto& [axis, factor] = dim.terms[t];
    if (factor <= 0) return 1;
    const std::int64_t extent = extent_of(stage, axis);
    last += factor * (extent - 1);
    places *= extent;
    if (extent > extent_of(stage, dim.terms[longest].first)) longest = t;
  }
  if (dim.constant >= 0 && last < size) return 1;
  const auto& [outer, outer_factor] = dim.terms[longest];
  places /= extent_of(stage, outer);
  if (places > kMostPlaces) return 1;
  std::int64_t inside = 0;
  for (std::int64_t place = 0; place < places; ++place) {
    std::int64_t start = dim.constant, left = place;
    for (std::size_t t = 0; t < dim.terms.size(); ++t) {
      if (t == longest) continue;
      const std::int64_t extent = extent_of(stage, dim.terms[t].first);
      start += dim.terms[t].second * (left % extent);
      left /= extent;
    }
    inside += count_inside(outer_factor, extent_of(stage, outer), start, size);
  }
  return static_cast<double>(inside) / static_cast<double>(places * extent_of(stage, outer));
}

}  // namespace

double part_inside(const schedule::StageState& stage) {
  double least = 1;
  for (const schedule::Access& access : stage.accesses) {
    double part = 1;
    for (std::size_t d = 0; d < access.dims.size(); ++d) {
      part *= part_inside(access.dims[d], stage.stage, access.buffer->shape[d]);
    }
    least = std::min(least, part);
  }
  return least;
}

}  // namespace attune::cost_model
