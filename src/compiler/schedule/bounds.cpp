#include "compiler/schedule/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/rewrite.h"
#include "compiler/ir/simplify.h"
#include "compiler/schedule/loop_values.h"

namespace attune::schedule {
namespace {

// Consecutive values of one axis: they begin at `offset` (a form over loop variables) + sum of
// coefficient * (where the host's axis begins), and are `extent` many.
struct Range {
  std::vector<std::pair<int, std::int64_t>> terms;  // sorted by host axis
  ir::Linear offset;
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
  Range range{{}, {{}, dim.constant}, 1};
  for (const auto& [axis, coefficient] : dim.terms) {
    const Range& from = reader[static_cast<std::size_t>(axis)];
    const std::int64_t moves = from.extent - 1;
    range.extent += moves * std::abs(coefficient);
    if (from.offset.terms.empty()) {
      range.offset.constant += from.offset.constant * coefficient;
    } else {
      range.offset = ir::add(range.offset, from.offset, coefficient);
    }
    if (coefficient < 0) range.offset.constant += moves * coefficient;
    for (const auto& [host, factor] : from.terms) add_term(range, host, factor * coefficient);
  }
  return range;
}

// The host as expressions: where its axes begin, and the ranges of all loop variables in there.
// Only made when an index is not linear.
struct HostValues {
  std::vector<ir::Expr> begin;
  ir::Ranges ranges;
};

ir::Expr begin_of(const Range& range, const std::vector<ir::Expr>& host) {
  ir::Expr sum = range.offset.to_expr();
  for (const auto& [axis, coefficient] : range.terms) {
    sum = sum + host[static_cast<std::size_t>(axis)] * ir::Expr(coefficient);
  }
  return sum;
}

// The same for an index that is not linear: with the reader's axes written as begin + variable it
// often simplifies to something that is ((o*4 + v) / 4 = o for v < 4).
std::optional<Range> general_image(const ir::Expr& index, const ir::Stage& stage,
                                   const Region& reader, const HostValues& host) {
  ir::Bindings bindings;
  ir::Ranges ranges = host.ranges;
  std::map<std::string, std::int64_t> moving;
  for (std::size_t i = 0; i < reader.size(); ++i) {
    const bool reduce = i >= stage.axes.size();
    const ir::Axis& axis = reduce ? stage.reduce_axes[i - stage.axes.size()] : stage.axes[i];
    ir::Expr value = begin_of(reader[i], host.begin);
    if (reader[i].extent > 1) {
      const std::string name = "%" + axis.name;
      moving[name] = reader[i].extent - 1;
      ranges = ranges.with(name, ir::Interval::extent(reader[i].extent));
      value = value + ir::var(name);
    }
    bindings[axis.name] = value;
  }
  const auto form = ir::linear_of(ir::simplify(ir::substitute(index, bindings), ranges));
  if (!form) return {};
  Range range{{}, {{}, form->constant}, 1};
  for (const auto& [name, coefficient] : form->terms) {
    const auto found = moving.find(name);
    if (found == moving.end()) {
      range.offset.terms.emplace_back(name, coefficient);
      continue;
    }
    range.extent += found->second * std::abs(coefficient);
    if (coefficient < 0) range.offset.constant += found->second * coefficient;
  }
  return range;
}

// Reads of one stage, collected: the union of ranges that differ by a constant, and the whole axis
// where they differ by more.
class Collector {
 public:
  explicit Collector(const ir::Stage& stage) : stage_(stage), dims_(stage.axes.size()) {}

  void add(const Access& access, const ir::Stage& reading, const Region& reader,
           const HostValues* host) {
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (whole(d)) continue;
      const AccessDim& dim = access.dims[d];
      if (dim.linear) {
        unite(d, image(dim, reader));
      } else if (auto range = general_image(dim.index, reading, reader, *host)) {
        unite(d, std::move(*range));
      } else {
        make_whole(d);
      }
    }
    read_ = true;
  }

  Region take() {
    if (!read_) return {};
    for (const ir::Axis& axis : stage_.reduce_axes) dims_.push_back({{}, {}, axis.extent});
    return std::move(dims_);
  }

 private:
  void unite(std::size_t d, Range range) {
    Range& known = dims_[d];
    if (!read_) {
      known = std::move(range);
    } else if (range.terms != known.terms || range.offset.terms != known.offset.terms) {
      make_whole(d);
    } else {
      const std::int64_t a = known.offset.constant, b = range.offset.constant;
      const std::int64_t low = std::min(a, b);
      known.extent = std::max(a + known.extent, b + range.extent) - low;
      known.offset.constant = low;
    }
    if (known.extent >= stage_.axes[d].extent) make_whole(d);
  }
  bool whole(std::size_t d) const {
    const Range& range = dims_[d];
    return read_ && range.terms.empty() && range.offset.terms.empty() &&
           range.offset.constant == 0 && range.extent == stage_.axes[d].extent;
  }
  void make_whole(std::size_t d) { dims_[d] = {{}, {}, stage_.axes[d].extent}; }

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
    region.push_back({{{static_cast<int>(axis), 1}}, {}, spans[axis]});
  }
  return region;
}

// The region of `wanted` within loop `at` of `host`, through all stages between them.
Region needed(const State& state, const std::vector<StageBounds>& bounds, int wanted, int host,
              int at, const HostValues* values) {
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
        collector.add(access, state.stages[reader]->stage, seen_from(stage, reader), values);
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

bool all_linear(const State& state) {
  for (const auto& stage : state.stages) {
    for (const Access& access : stage->accesses) {
      for (const AccessDim& dim : access.dims) {
        if (!dim.linear) return false;
      }
    }
  }
  return true;
}

HostValues host_values(const State& state, const std::vector<StageBounds>& bounds, int host,
                       int at) {
  HostValues values{host_begin(*state.stages[host], bounds[host], at), {}};
  for (std::size_t i = static_cast<std::size_t>(host); i < state.stages.size(); ++i) {
    const StageState& stage = *state.stages[i];
    for (int loop : stage.loops) {
      values.ranges = values.ranges.with(loop_variable(stage, loop),
                                         ir::Interval::extent(bounds[i].iters[loop]));
    }
  }
  return values;
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
  // What is not linear is decided with expressions, for which all regions need their beginnings.
  const bool linear = all_linear(state);
  if (!linear) mins = Mins::Compute;
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
      std::optional<HostValues> values;
      if (!linear) values = host_values(state, bounds, host, at);
      const Region region = needed(state, bounds, i, host, at, values ? &*values : nullptr);
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
