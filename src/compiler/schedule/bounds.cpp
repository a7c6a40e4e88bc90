#include "compiler/schedule/bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/loop_values.h"

namespace attune::schedule {
namespace {

// Consecutive values of one axis: they begin at constant + sum of coefficient * (where the host's
// axis begins), and are `extent` many.
struct Range {
  std::vector<std::pair<int, std::int64_t>> terms;  // sorted by host axis
  std::int64_t constant = 0;
  std::int64_t extent = 1;
};
// What is needed of one stage during one iteration of the host loop, one range per axis and reduce
// axis; empty when nothing is.
using Region = std::vector<Range>;

Extents full_extents(const ir::Stage& stage) {
  Extents extents;
  for (const ir::Axis& axis : stage.axes) extents.push_back(axis.extent);
  for (const ir::Axis& axis : stage.reduce_axes) extents.push_back(axis.extent);
  return extents;
}

void add_term(Range& range, int axis, std::int64_t coefficient) {
  auto at = range.terms.begin();
  while (at != range.terms.end() && at->first < axis) ++at;
  if (at == range.terms.end() || at->first != axis) {
    range.terms.insert(at, {axis, coefficient});
  } else if ((at->second += coefficient) == 0) {
    range.terms.erase(at);
  }
}

// The values that one dimension of a read takes over the reader's region.
Range image(const AccessDim& dim, const Region& reader) {
  Range range{{}, dim.constant, 1};
  for (const auto& [axis, coefficient] : dim.terms) {
    const Range& from = reader[static_cast<std::size_t>(axis)];
    const std::int64_t moves = from.extent - 1;
    range.extent += moves * std::abs(coefficient);
    range.constant += from.constant * coefficient + (coefficient < 0 ? moves * coefficient : 0);
    for (const auto& [host, factor] : from.terms) add_term(range, host, factor * coefficient);
  }
  return range;
}

// Reads of one stage, collected: the union of ranges that differ by a constant, and the whole axis
// where they differ by more or are not linear.
class Collector {
 public:
  explicit Collector(const ir::Stage& stage) : stage_(stage), dims_(stage.axes.size()) {}

  void add(const Access& access, const Region& reader) {
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (whole(d)) continue;
      if (!access.dims[d].linear) {
        make_whole(d);
        continue;
      }
      Range range = image(access.dims[d], reader);
      if (!read_) {
        dims_[d] = std::move(range);
      } else if (range.terms != dims_[d].terms) {
        make_whole(d);
      } else {
        Range& known = dims_[d];
        const std::int64_t low = std::min(known.constant, range.constant);
        const std::int64_t high =
            std::max(known.constant + known.extent, range.constant + range.extent);
        known.constant = low, known.extent = high - low;
      }
      if (dims_[d].extent >= stage_.axes[d].extent) make_whole(d);
    }
    read_ = true;
  }

  Region take() {
    if (!read_) return {};
    for (const ir::Axis& axis : stage_.reduce_axes) dims_.push_back({{}, 0, axis.extent});
    return std::move(dims_);
  }

 private:
  bool whole(std::size_t d) const {
    return read_ && dims_[d].terms.empty() && dims_[d].constant == 0 &&
           dims_[d].extent == stage_.axes[d].extent;
  }
  void make_whole(std::size_t d) { dims_[d] = {{}, 0, stage_.axes[d].extent}; }

  const ir::Stage& stage_;
  Region dims_;
  bool read_ = false;
};

// The region that the loops of a stage run through when it is computed for `region`: partial splits
// run beyond it. The stage itself is guarded there, stages computed within its loops are not.
Region covered(const StageState& stage, Region region) {
  Extents axes;
  for (const Range& range : region) axes.push_back(range.extent);
  const Extents spans = axis_spans(stage, loop_extents(stage, axes), 0, Overrun::Keep);
  for (std::size_t i = 0; i < region.size(); ++i) {
    region[i].extent = std::max(region[i].extent, spans[i]);
  }
  return region;
}

Region host_region(const StageState& host, const StageBounds& bounds, int at, Overrun overrun) {
  const Extents spans = axis_spans(host, bounds.iters, at + 1, overrun);
  Region region;
  for (std::size_t axis = 0; axis < spans.size(); ++axis) {
    region.push_back({{{static_cast<int>(axis), 1}}, 0, spans[axis]});
  }
  return region;
}

// The region of `wanted` within loop `at` of `host`, through all stages between them.
Region needed(const State& state, const std::vector<StageBounds>& bounds, int wanted, int host,
              int at) {
  std::vector<Region> regions(static_cast<std::size_t>(host - wanted) + 1);
  auto region_of = [&](int stage) -> Region& { return regions[stage - wanted]; };
  region_of(host) = host_region(*state.stages[host], bounds[host], at, Overrun::Cut);
  // What `reader` runs through while it computes what `stage`, another one, is needed for.
  auto seen_from = [&](int stage, int reader) {
    const StageState& placed = *state.stages[stage];
    const StageState& around = *state.stages[reader];
    if (placed.at_stage != around.stage.name) return region_of(reader);
    if (reader != host) return covered(around, region_of(reader));
    const bool deeper = around.find_loop(placed.at_loop) > at;
    return host_region(around, bounds[host], at, deeper ? Overrun::Keep : Overrun::Cut);
  };
  for (int stage = host - 1; stage >= wanted; --stage) {
    const ir::Stage& definition = state.stages[stage]->stage;
    Collector collector(definition);
    for (int reader = stage + 1; reader <= host; ++reader) {
      if (region_of(reader).empty()) continue;
      for (const Access& access : state.stages[reader]->accesses) {
        const auto& outputs = definition.outputs;
        if (std::find(outputs.begin(), outputs.end(), access.buffer) == outputs.end()) continue;
        collector.add(access, seen_from(stage, reader));
      }
    }
    region_of(stage) = collector.take();
  }
  return region_of(wanted);
}

// Steps after a compute_at may have moved a consumer or the loops around it.
Status check_consumers(const State& state, int stage, int host, int at) {
  const StageState& placed = *state.stages[stage];
  for (int consumer : state.consumers_of(stage)) {
    if (runs_within(state, consumer, host, at)) continue;
    return invalid(
        fmt::format("stage '{}' is computed at loop '{}' of '{}', but '{}' reads it outside of "
                    "that loop",
                    placed.stage.name, placed.at_loop, placed.at_stage,
                    state.stages[consumer]->stage.name),
        "place it at a loop around all its consumers, or at root");
  }
  return {};
}

// Where the host's axes begin in an iteration of the loop at position `at`, as expressions.
std::vector<ir::Expr> host_begin(const StageState& host, const StageBounds& bounds, int at) {
  std::vector<ir::Expr> values(host.iters.size());
  for (std::size_t i = 0; i < host.loops.size(); ++i) {
    const bool varies = static_cast<int>(i) > at;
    values[host.loops[i]] = varies ? ir::Expr(0) : ir::var(loop_variable(host, host.loops[i]));
  }
  fill_values(host, bounds.iters, values);
  const std::size_t axes = host.stage.axes.size();
  for (std::size_t i = 0; i < axes; ++i) values[i] = bounds.min[i] + values[i];
  values.resize(axes + host.stage.reduce_axes.size());
  return values;
}

ir::Expr begin_of(const Range& range, const std::vector<ir::Expr>& host) {
  ir::Expr sum(range.constant);
  for (const auto& [axis, coefficient] : range.terms) {
    sum = sum + host[static_cast<std::size_t>(axis)] * ir::Expr(coefficient);
  }
  return sum;
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
      ATTUNE_RETURN_IF_ERROR(check_consumers(state, i, host, at));
      const Region region = needed(state, bounds, i, host, at);
      if (region.empty()) {
        return invalid(
            fmt::format("stage '{}' is not read within '{}'", stage.stage.name, stage.at_stage),
            "compute a stage at a loop of its consumer");
      }
      for (const Range& range : region) b.axes.push_back(range.extent);
      if (mins == Mins::Compute) {
        const auto begin = host_begin(*state.stages[host], bounds[host], at);
        for (std::size_t axis = 0; axis < stage.stage.axes.size(); ++axis) {
          b.min.push_back(begin_of(region[axis], begin));
        }
      }
    }
    b.iters = loop_extents(stage, b.axes);
  }
  return bounds;
}

}  // namespace attune::schedule
