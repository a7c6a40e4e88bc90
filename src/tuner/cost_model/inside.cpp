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

// The part of an index's values that lie inside of a dimension of this size.
double part_inside(const schedule::AccessDim& dim, const ir::Stage& stage, std::int64_t size) {
  const auto extent = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    return a < stage.axes.size() ? stage.axes[a].extent
                                 : stage.reduce_axes[a - stage.axes.size()].extent;
  };
  std::int64_t last = dim.constant;
  bool rising = dim.linear;
  for (const auto& [axis, factor] : dim.terms) {
    last += factor * (extent(axis) - 1);
    rising &= factor > 0;
  }
  if (!rising || (dim.constant >= 0 && last < size)) return 1;
  if (dim.terms.size() > 2 || dim.terms.empty()) return 1;
  const auto& [outer, outer_factor] = dim.terms.front();
  const auto& [inner, inner_factor] = dim.terms.back();
  const bool one = dim.terms.size() == 1;
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < (one ? 1 : extent(inner)); ++i) {
    inside += count_inside(outer_factor, extent(outer), dim.constant + i * inner_factor, size);
  }
  const std::int64_t all = extent(outer) * (one ? 1 : extent(inner));
  return static_cast<double>(inside) / static_cast<double>(all);
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
