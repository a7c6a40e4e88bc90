#include "compiler/schedule/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/bindings.h"
#include "compiler/schedule/loop_values.h"
#include "compiler/schedule/pipelines.h"
#include "compiler/schedule/read_ranges.h"
#include "compiler/schedule/thread_ranges.h"

namespace attune::schedule {
namespace {

Extents full_extents(const ir::Stage& stage) {
  Extents extents;
  for (const ir::Axis& axis : stage.axes) extents.push_back(axis.extent);
  for (const ir::Axis& axis : stage.reduce_axes) extents.push_back(axis.extent);
  return extents;
}

// The values of a host, which take long to find and are needed for reads that are not linear alone.
class LazyHostValues {
 public:
  explicit LazyHostValues(std::function<HostValues()> find) : find_(std::move(find)) {}
  const HostValues& operator*() const {
    if (!values_) values_ = find_();
    return *values_;
  }

 private:
  std::function<HostValues()> find_;
  mutable std::optional<HostValues> values_;
};

// Reads of one stage, collected: the union of ranges that differ by a constant, and the whole axis
// where they differ by more.
class Collector {
 public:
  explicit Collector(const ir::Stage& stage) : stage_(stage), dims_(stage.axes.size()) {}

  // The reads that follow are by another stage than before.
  void begin_reader() { general_.reset(); }
  void add(const Access& access, const StageState& reader_stage, const Region& reader,
           const LazyHostValues& host, bool by_host) {
    const ir::Stage& reading = reader_stage.stage;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (whole(d)) continue;
      const AccessDim& dim = access.dims[d];
      if (dim.linear) {
        std::optional<Range> joined;
        if (by_host && joins_fused(reader_stage, dim)) {
          if (const auto whole_loop = fused_loop(reader_stage, dim)) {
            joined = image(*whole_loop, reader);
          } else {
            joined = host_image(to_expr(dim, reading), reading, *host);
          }
        }
        unite(d, joined ? std::move(*joined) : image(dim, reader));
      } else {
        if (!general_) general_.emplace(reading, reader, *host);
        auto range = general_->image(dim.index);
        if (by_host && (!range || range->extent >= stage_.axes[d].extent)) {
          range = host_image(dim.index, reading, *host);
        }
        range ? unite(d, std::move(*range)) : make_whole(d);
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
  std::optional<GeneralReader> general_;  // of the present reader
};

// The part of a region in which the stage is defined; beyond it, it is guarded.
Region defined_part(const ir::Stage& stage, Region region) {
  for (std::size_t d = 0; d < stage.axes.size(); ++d) {
    if (region[d].extent >= stage.axes[d].extent) region[d] = {{}, {}, stage.axes[d].extent};
  }
  return region;
}

// Regions of all stages while one iteration of the loop at position `at` of `host` runs. Those of
// stages that are placed in there reach as far as the loops around them run, also beyond the end of
// partial splits: only the stage that was split is guarded there.
class IterationRegions {
 public:
  // `placed` holds, by stage, the regions of the stages behind `wanted` that are computed at a
  // loop, in terms of the stage around them.
  IterationRegions(const State& state, const std::vector<StageBounds>& bounds,
                   const std::vector<Region>& placed, int wanted, int host, int at,
                   const LazyHostValues& values, bool linear)
      : state_(state),
        values_(values),
        linear_(linear),
        first_(wanted),
        regions_(static_cast<std::size_t>(host - wanted) + 1) {
    const StageState& outer = *state.stages[host];
    // Of the axes, and of loops that were fused of them.
    const int end = static_cast<int>(outer.loops.size());
    const Extents spans = iter_spans(outer, bounds[host].iters, at + 1, end, Overrun::Cut);
    for (std::size_t iter = 0; iter < spans.size(); ++iter) {
      regions_.back().push_back({{{static_cast<int>(iter), 1}}, {}, spans[iter]});
    }
    add_variables(outer, bounds[host], at + 1);
    for (int i = host - 1; i > wanted; --i) {
      const int around = placed[i].empty() ? -1 : state.find(state.stages[i]->at_stage);
      if (around < 0 || around > host || of(around).empty()) continue;
      const int begin = around == host ? at + 1 : 0;
      place(i, around, begin, bounds, placed[i]);
    }
  }

  // What all readers of `wanted` need of it; empty when nobody reads it.
  Region needed() const {
    const ir::Stage& definition = state_.stages[first_]->stage;
    const int host = first_ + static_cast<int>(regions_.size()) - 1;
    Collector collector(definition);
    for (int reader = first_ + 1; reader <= host; ++reader) {
      if (of(reader).empty()) continue;
      const StageState& stage = *state_.stages[reader];
      const Region region = reader == host ? of(reader) : defined_part(stage.stage, of(reader));
      collector.begin_reader();
      for (const Access& access : stage.accesses) {
        const auto& outputs = definition.outputs;
        if (std::find(outputs.begin(), outputs.end(), access.buffer) == outputs.end()) continue;
        collector.add(access, stage, region, values_, reader == host);
      }
    }
    return collector.take();
  }

 private:
  const Region& of(int stage) const { return regions_[static_cast<std::size_t>(stage - first_)]; }

  void add_variables(const StageState& stage, const StageBounds& bounds, int first) {
    if (linear_) return;  // no range has variables in its offset
    for (std::size_t i = static_cast<std::size_t>(first); i < stage.loops.size(); ++i) {
      const int loop = stage.loops[i];
      varying_.emplace_back(loop_variable(stage, loop), bounds.iters[loop]);
    }
  }

  // The region of a stage over all iterations of the loops [begin, its own] around it.
  void place(int stage, int around, int begin, const std::vector<StageBounds>& bounds,
             const Region& placed) {
    const StageState& outer = *state_.stages[around];
    const int position = outer.find_loop(state_.stages[stage]->at_loop);
    if (position + 1 < begin) return;
    const Extents moves =
        iter_spans(outer, bounds[around].iters, begin, position + 1, Overrun::Keep);
    // Where the stage around it begins moves too, unless that is the host.
    Region starts = of(around);
    const bool fixed = around == first_ + static_cast<int>(regions_.size()) - 1;
    for (std::size_t axis = 0; axis < starts.size(); ++axis) {
      const std::int64_t begins = fixed ? 0 : starts[axis].extent - bounds[around].axes[axis];
      starts[axis].extent = begins + moves[axis];
    }
    Region& region = regions_[static_cast<std::size_t>(stage - first_)];
    for (const Range& range : placed) {
      AccessDim dim;
      dim.terms = range.terms;
      Range whole = image(dim, starts);
      whole.extent += range.extent - 1;
      move_offset(whole, range.offset);
      region.push_back(std::move(whole));
    }
    add_variables(*state_.stages[stage], bounds[stage], 0);
  }

  // Adds an offset to where a range begins; its variables that vary make the range longer.
  void move_offset(Range& range, const ir::Linear& offset) const {
    ir::Linear fixed{{}, offset.constant};
    for (const auto& [name, coefficient] : offset.terms) {
      const auto found = std::find_if(varying_.begin(), varying_.end(),
                                      [&](const auto& v) { return v.first == name; });
      if (found == varying_.end()) {
        fixed.terms.emplace_back(name, coefficient);
        continue;
      }
      const std::int64_t moves = (found->second - 1) * coefficient;
      range.extent += std::abs(moves);
      if (moves < 0) fixed.constant += moves;
    }
    range.offset = ir::add(range.offset, fixed);
  }

  const State& state_;
  const LazyHostValues& values_;
  bool linear_;  // all that is read by any stage
  int first_;
  std::vector<Region> regions_;  // of first_ … host; empty for stages that run elsewhere
  std::vector<std::pair<std::string, std::int64_t>> varying_;  // loop variables in there
};

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

// Where the host's axes, and loops made of them, begin in an iteration of the loop at position
// `at`, as expressions.
std::vector<ir::Expr> host_begin(const StageState& host, const StageBounds& bounds, int at) {
  std::vector<ir::Expr> values(host.iters.size());
  for (int i = 0; i <= at; ++i) {
    values[host.loops[i]] = ir::var(loop_variable(host, host.loops[i]));
  }
  fill_beginnings(host, bounds.iters, at + 1, values);
  const std::size_t axes = host.stage.axes.size();
  for (std::size_t i = 0; i < axes; ++i) values[i] = bounds.min[i] + values[i];
  return values;
}

bool all_linear(const State& state) {
  for (const auto& stage : state.stages) {
    for (const Access& access : stage->accesses) {
      for (const AccessDim& dim : access.dims) {
        if (!dim.linear || joins_fused(*stage, dim)) return false;
      }
    }
  }
  return true;
}

bool has_shared(const State& state) {
  return std::any_of(state.stages.begin(), state.stages.end(),
                     [](const auto& stage) { return is_shared(*stage); });
}

// What is known while bounds are inferred, last stage first.
struct Inference {
  const State& state;
  std::vector<StageBounds> bounds;
  std::vector<Region> placed;  // by stage; empty for those at root

  // Finds where the region of a stage begins, unless that was done.
  void find_min(int index) {
    const StageState& stage = *state.stages[index];
    StageBounds& b = bounds[index];
    if (b.min.size() == stage.stage.axes.size()) return;
    if (stage.at_root()) {
      b.min.assign(stage.stage.axes.size(), ir::Expr(0));
      return;
    }
    const int host = state.find(stage.at_stage);
    find_min(host);
    const int at = state.stages[host]->find_loop(stage.at_loop);
    const auto begin = host_begin(*state.stages[host], bounds[host], at);
    for (std::size_t axis = 0; axis < stage.stage.axes.size(); ++axis) {
      b.min.push_back(begin_of(placed[static_cast<std::size_t>(index)][axis], begin));
    }
  }

  // What one thread needs becomes what all threads of the block need.
  void take_all_threads(int index, int host, int at) {
    find_min(host);
    const auto begin = host_begin(*state.stages[host], bounds[host], at);
    ThreadRanges threads;
    for (int around = host, position = at; around >= 0;) {
      const StageState& outer = *state.stages[around];
      for (int i = 0; i <= position; ++i) {
        const int loop = outer.loops[i];
        threads.add(outer, loop, bounds[around].iters[loop]);
      }
      around = outer.at_root() ? -1 : state.find(outer.at_stage);
      if (around >= 0) position = state.stages[around]->find_loop(outer.at_loop);
    }
    const auto& axes = state.stages[index]->stage.axes;
    Region& region = placed[static_cast<std::size_t>(index)];
    for (std::size_t d = 0; d < axes.size(); ++d) {
      region[d] = threads.widen(region[d], begin_of(region[d], begin), axes[d].extent);
    }
  }

  HostValues host_values(int host, int at) {
    find_min(host);
    const StageState& outer = *state.stages[host];
    HostValues values{host_begin(outer, bounds[host], at), {}, {}, {}};
    values.axes.resize(outer.iters.size());
    for (std::size_t i = 0; i < outer.loops.size(); ++i) {
      const std::string variable = loop_variable(outer, outer.loops[i]);
      values.axes[outer.loops[i]] = ir::var(variable);
      if (static_cast<int>(i) > at) values.moving[variable] = bounds[host].iters[outer.loops[i]];
    }
    fill_values(outer, bounds[host].iters, values.axes);
    values.axes.resize(outer.stage.axes.size() + outer.stage.reduce_axes.size());
    for (std::size_t i = 0; i < outer.stage.axes.size(); ++i) {
      values.axes[i] = bounds[host].min[i] + values.axes[i];
    }
    for (std::size_t i = static_cast<std::size_t>(host); i < state.stages.size(); ++i) {
      const StageState& stage = *state.stages[i];
      for (int loop : stage.loops) {
        values.ranges = values.ranges.with(loop_variable(stage, loop),
                                           ir::Interval::extent(bounds[i].iters[loop]));
      }
    }
    return values;
  }
};

}  // namespace

std::string loop_variable(const StageState& stage, int iter) {
  std::string name = stage.stage.name + "_" + stage.iters[iter].name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

Result<std::vector<StageBounds>> infer_bounds(const State& state, Mins mins) {
  Inference inference{state, std::vector<StageBounds>(state.stages.size()),
                      std::vector<Region>(state.stages.size())};
  ATTUNE_RETURN_IF_ERROR(check_bindings(state));
  ATTUNE_RETURN_IF_ERROR(check_pipelines(state));
  // Regions of shared stages begin where loops of the block say, not where those of a thread do.
  const bool linear = all_linear(state) && !has_shared(state);
  for (int i = static_cast<int>(state.stages.size()) - 1; i >= 0; --i) {
    const StageState& stage = *state.stages[i];
    StageBounds& b = inference.bounds[i];
    if (stage.at_root()) {
      b.axes = full_extents(stage.stage);
    } else {
      const int host = state.find(stage.at_stage);
      const int at = host < 0 ? -1 : state.stages[host]->find_loop(stage.at_loop);
      if (at < 0) {
        return invalid(fmt::format("stage '{}' is computed at loop '{}' of '{}', which is gone",
                                   stage.stage.name, stage.at_loop, stage.at_stage),
                       "split and reorder the consumer first, then place its producers");
      }
      ATTUNE_RETURN_IF_ERROR(check_consumers(state, i, host, at));
      const LazyHostValues values([&] { return inference.host_values(host, at); });
      Region& region = inference.placed[static_cast<std::size_t>(i)];
      region =
          IterationRegions(state, inference.bounds, inference.placed, i, host, at, values, linear)
              .needed();
      if (region.empty()) {
        return invalid(
            fmt::format("stage '{}' is not read within '{}'", stage.stage.name, stage.at_stage),
            "compute a stage at a loop of its consumer");
      }
      if (is_shared(stage)) inference.take_all_threads(i, host, at);
      for (const Range& range : region) b.axes.push_back(range.extent);
    }
    b.iters = loop_extents(stage, b.axes);
  }
  for (int i = 0; mins == Mins::Compute && i < static_cast<int>(state.stages.size()); ++i) {
    inference.find_min(i);
  }
  return std::move(inference.bounds);
}

}  // namespace attune::schedule
