#include "compiler/schedule/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/schedule/loop_values.h"

namespace attune::schedule {
namespace {

// What is needed of one stage during one iteration of the host loop.
struct Region {
  Extents extents;
  std::vector<ir::Expr> min;
  bool empty() const { return extents.empty(); }
};

Extents full_extents(const ir::Stage& stage) {
  Extents extents;
  for (const ir::Axis& axis : stage.axes) extents.push_back(axis.extent);
  for (const ir::Axis& axis : stage.reduce_axes) extents.push_back(axis.extent);
  return extents;
}

// The host's own axes while the loops inside of position `at` run.
Region host_region(const StageState& host, const StageBounds& bounds, int at, Mins mins) {
  Region region{axis_spans(host, bounds.iters, at + 1), {}};
  if (mins == Mins::Leave) return region;
  std::vector<ir::Expr> values(host.iters.size());
  for (std::size_t i = 0; i < host.loops.size(); ++i) {
    const bool varies = static_cast<int>(i) > at;
    values[host.loops[i]] = varies ? ir::Expr(0) : ir::var(loop_variable(host, host.loops[i]));
  }
  fill_values(host, bounds.iters, values);
  const std::size_t axes = host.stage.axes.size();
  for (std::size_t i = 0; i < axes + host.stage.reduce_axes.size(); ++i) {
    region.min.push_back(i < axes ? bounds.min[i] + values[i] : values[i]);
  }
  return region;
}

// The values one dimension of an access takes over `reader`, as (extent, min); nothing when it is
// not linear.
struct DimRange {
  std::int64_t extent;
  ir::Expr min;
};
DimRange dim_range(const AccessDim& dim, const Region& reader, Mins mins) {
  DimRange range{1, {}};
  if (mins == Mins::Compute) range.min = ir::Expr(dim.constant);
  for (const auto& [axis, coefficient] : dim.terms) {
    const std::int64_t moves = reader.extents[axis] - 1;
    range.extent += moves * std::abs(coefficient);
    if (mins == Mins::Leave) continue;
    ir::Expr start = reader.min[axis];
    if (coefficient < 0) start = start + ir::Expr(moves);
    range.min = range.min + start * ir::Expr(coefficient);
  }
  return range;
}

bool same_terms(const AccessDim& a, const AccessDim& b) {
  return a.linear && b.linear && a.terms == b.terms;
}

// Union of all reads of `stage` by `reader` into `region`; `first` remembers the access that each
// dimension's region was taken from, for reads that differ by a constant.
struct Collected {
  const AccessDim* dim = nullptr;
  int reader = -1;
  std::int64_t low = 0, high = 0;  // offsets of the union relative to *dim
  DimRange range;
  bool whole = false;
};

void collect(std::vector<Collected>& dims, const Access& access, int reader_index,
             const Region& reader, Mins mins) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    Collected& c = dims[d];
    const AccessDim& dim = access.dims[d];
    if (c.whole || !dim.linear) {
      c.whole = true;
    } else if (!c.dim) {
      c.dim = &dim, c.reader = reader_index, c.range = dim_range(dim, reader, mins);
    } else if (c.reader == reader_index && same_terms(*c.dim, dim)) {
      const std::int64_t offset = dim.constant - c.dim->constant;
      c.low = std::min(c.low, offset), c.high = std::max(c.high, offset);
    } else {
      c.whole = true;
    }
  }
}

Region finish(const std::vector<Collected>& dims, const ir::Stage& stage, Mins mins) {
  Region region{full_extents(stage), {}};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Collected& c = dims[d];
    const std::int64_t extent = c.whole ? stage.axes[d].extent : c.range.extent + c.high - c.low;
    const bool whole = c.whole || extent >= stage.axes[d].extent;
    region.extents[d] = whole ? stage.axes[d].extent : extent;
    if (mins == Mins::Leave) continue;
    region.min.push_back(whole ? ir::Expr(0) : c.range.min + ir::Expr(c.low));
  }
  for (std::size_t i = 0; mins == Mins::Compute && i < stage.reduce_axes.size(); ++i) {
    region.min.push_back(ir::Expr(0));
  }
  return region;
}

// The region of `wanted` within loop `at` of `host`, through all stages between them.
Region needed(const State& state, const std::vector<StageBounds>& bounds, int wanted, int host,
              int at, Mins mins) {
  std::vector<Region> regions(static_cast<std::size_t>(host - wanted) + 1);
  auto region_of = [&](int stage) -> Region& { return regions[stage - wanted]; };
  region_of(host) = host_region(*state.stages[host], bounds[host], at, mins);
  for (int stage = host - 1; stage >= wanted; --stage) {
    const ir::Stage& definition = state.stages[stage]->stage;
    std::vector<Collected> dims(definition.axes.size());
    bool read = false;
    for (int reader = stage + 1; reader <= host; ++reader) {
      if (region_of(reader).empty()) continue;
      for (const Access& access : state.stages[reader]->accesses) {
        const auto& outputs = definition.outputs;
        if (std::find(outputs.begin(), outputs.end(), access.buffer) == outputs.end()) continue;
        collect(dims, access, reader, region_of(reader), mins);
        read = true;
      }
    }
    if (read) region_of(stage) = finish(dims, definition, mins);
  }
  return region_of(wanted);
}

}  // namespace

std::string loop_variable(const StageState& stage, int iter) {
  std::string name = stage.stage.name + "_" + stage.iters[iter].name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

Result<std::vector<StageBounds>> infer_bounds(const State& state, Mins mins) {
  std::vector<StageBounds> bounds(state.stages.size());
  for (int i = static_cast<int>(state.stages.size()) - 1; i >= 0; --i) {
    const StageState& stage = *state.stages[i];
    StageBounds& b = bounds[i];
    if (stage.at_root()) {
      b.axes = full_extents(stage.stage);
      if (mins == Mins::Compute) b.min.assign(stage.stage.axes.size(), ir::Expr(0));
    } else {
      const int host = state.find(stage.at_stage);
      const int at = host < 0 ? -1 : state.stages[host]->find_loop(stage.at_loop);
      if (at < 0) {
        return invalid(fmt::format("stage '{}' is computed at loop '{}' of '{}', which is gone",
                                   stage.stage.name, stage.at_loop, stage.at_stage),
                       "split and reorder the consumer first, then place its producers");
      }
      Region region = needed(state, bounds, i, host, at, mins);
      if (region.empty()) {
        return invalid(
            fmt::format("stage '{}' is not read within '{}'", stage.stage.name, stage.at_stage),
            "compute a stage at a loop of its consumer");
      }
      b.axes = std::move(region.extents);
      b.min = std::move(region.min);
      if (mins == Mins::Compute) b.min.resize(stage.stage.axes.size());
    }
    b.iters = loop_extents(stage, b.axes);
  }
  return bounds;
}

}  // namespace attune::schedule
