#include "compiler/lower/nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/beyond_ends.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/launches/launch_axes.h"
#include "compiler/lower/prepared.h"
#include "compiler/lower/reduction.h"
#include "compiler/lower/skips.h"
#include "compiler/lower/stage_places.h"
#include "compiler/lower/storage.h"
#include "compiler/lower/tensor_call.h"
#include "compiler/schedule/bindings.h"
#include "compiler/schedule/loop_values.h"
#include "compiler/schedule/pipelines.h"
#include "compiler/schedule/tensor_match.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;
using schedule::StageBounds;
using schedule::StageState;
using schedule::State;

class NestBuilder {
 public:
  NestBuilder(const State& state, std::vector<StageBounds> bounds)
      : state_(state),
        bounds_(std::move(bounds)),
        axes_(state, bounds_),
        skips_(find_skips(state, bounds_)),
        places_(state, bounds_, ranges_, axes_.any()) {
    for (std::size_t i = 0; i < state.stages.size(); ++i) {
      const StageState& stage = *state.stages[i];
      for (int loop : stage.loops) {
        ranges_ = ranges_.with(schedule::loop_variable(stage, loop),
                               ir::Interval::extent(bounds_[i].iters[loop]));
      }
      for (Expr& min : bounds_[i].min) min = ir::substitute(min, axes_.variables());
    }
    ranges_ = axes_.with_ranges(ranges_);
  }

  // What is wrong with the nests so far.
  const Status& status() const { return status_; }
  Stmt nest(int index);
  Stmt root_nest(int index) { return axes_.launch(index, nest(index)); }
  const StagePlaces& places() const { return places_; }

 private:
  struct Frame {
    int index;
    const StageState& stage;
    const StageBounds& bounds;
    std::vector<Expr> values;         // of all iters
    ir::Bindings axes;                // axis name -> value
    std::vector<Expr> guards;         // of the axes
    std::vector<Expr> reduce_guards;  // of the reduce axes
    std::vector<Expr> zero_guards;    // where they fail, the stage is zero
    std::size_t first_reduce;         // position of the first reduction loop
    bool goes_on = false;             // beyond the ends of its axes
  };

  Frame frame(int index) const;
  void add_guards(Frame& f) const;
  bool goes_on(const Frame& f) const;
  Stmt loops_from(Frame& f, std::size_t position);
  Stmt init_nest(Frame& f, std::size_t position);
  Stmt with_attached(Frame& f, std::size_t position, Stmt body);
  Stmt loop_over(const Frame& f, std::size_t position, schedule::Notes notes, Stmt body) const;
  Stmt update(Frame& f);
  Result<Stmt> tensor_call(Frame& f, std::size_t position) const;
  TileAccesses accesses_of(Frame& f, const schedule::TensorMatch& match) const;
  std::vector<Expr> store_index(const Frame& f) const;

  const State& state_;
  std::vector<StageBounds> bounds_;
  LaunchAxes axes_;
  std::vector<std::vector<Skip>> skips_;  // by stage
  ir::Ranges ranges_;
  StagePlaces places_;
  Status status_;
};

NestBuilder::Frame NestBuilder::frame(int index) const {
  const StageState& stage = *state_.stages[index];
  Frame f{index, stage, bounds_[index], {}, {}, {}, {}, {}, stage.loops.size()};
  f.values.resize(stage.iters.size());
  for (std::size_t i = 0; i < stage.loops.size(); ++i) {
    const int loop = stage.loops[i];
    f.values[loop] =
        ir::substitute(ir::var(schedule::loop_variable(stage, loop)), axes_.variables());
    if (stage.iters[loop].reduce) f.first_reduce = std::min(f.first_reduce, i);
  }
  schedule::fill_values(stage, f.bounds.iters, f.values);
  const std::size_t axes = stage.stage.axes.size();
  for (std::size_t i = 0; i < axes; ++i) {
    f.axes[stage.stage.axes[i].name] = ir::simplify(f.bounds.min[i] + f.values[i], ranges_);
  }
  for (std::size_t i = 0; i < stage.stage.reduce_axes.size(); ++i) {
    f.axes[stage.stage.reduce_axes[i].name] = ir::simplify(f.values[axes + i], ranges_);
  }
  add_guards(f);
  return f;
}

void NestBuilder::add_guards(Frame& f) const {
  const auto add = [&](std::vector<Expr>& guards, const Expr& condition) {
    if (!ir::prove(condition, ranges_)) guards.push_back(ir::simplify(condition, ranges_));
  };
  const auto all = schedule::split_guards(f.stage, f.bounds.iters, f.values, schedule::Loops::All);
  const auto reduce =
      schedule::split_guards(f.stage, f.bounds.iters, f.values, schedule::Loops::Reduce);
  const auto is_reduce = [&](const Expr& e) {
    return std::ranges::any_of(reduce, [&](const Expr& r) { return ir::equal(r, e); });
  };
  for (const Expr& condition : axes_.conditions(f.index)) add(f.guards, condition);
  for (const Expr& guard : all) add(is_reduce(guard) ? f.reduce_guards : f.guards, guard);
  std::vector<Expr> ends;
  for (const ir::Axis& axis : f.stage.stage.axes) {
    const Expr& value = f.axes.at(axis.name);
    add(ends, value >= Expr(0));
    add(ends, value < Expr(axis.extent));
  }
  if ((f.goes_on = ends.empty() || goes_on(f))) return;
  const bool zero = axes_.any() && beyond_ends(state_, f.index) == Beyond::Zero;
  auto& guards = zero ? f.zero_guards : f.guards;
  guards.insert(guards.end(), ends.begin(), ends.end());
}

// Whether all that a stage reads is within the memory of stages that have values there.
bool NestBuilder::goes_on(const Frame& f) const {
  const auto has_values = [&](const schedule::Access& access) {
    const int producer = places_.producer_of(access.buffer);
    const Beyond beyond = beyond_ends(state_, producer);
    return beyond == Beyond::Zero || (beyond == Beyond::Free && frame(producer).goes_on);
  };
  const auto& reads = f.stage.accesses;
  return beyond_ends(state_, f.index) == Beyond::Free && axes_.any() &&
         std::all_of(reads.begin(), reads.end(), has_values) &&
         reads_inside(ir::substitute(f.stage.stage.values[0], f.axes), state_, bounds_, ranges_);
}

std::vector<Expr> NestBuilder::store_index(const Frame& f) const {
  std::vector<Expr> index;
  for (const ir::Axis& axis : f.stage.stage.axes) index.push_back(f.axes.at(axis.name));
  return places_.place(f.index, index);
}

Stmt NestBuilder::loop_over(const Frame& f, std::size_t position, schedule::Notes notes,
                            Stmt body) const {
  const int loop = f.stage.loops[position];
  const auto& iter = f.stage.iters[loop];
  if (iter.kind == ir::LoopKind::Bound) return body;  // the loop stands around the whole launch
  const LoopPart part = part_of_loop(loop, skips_[f.index], f.stage.stage, f.bounds);
  return ir::make_stmt(ir::For{schedule::loop_variable(f.stage, loop),
                               ir::simplify(part.begin, ranges_),
                               ir::simplify(part.end - part.begin, ranges_),
                               iter.kind,
                               {},
                               std::move(notes),
                               body});
}

// Stages computed at this loop come first in its body, with their buffers around all of it.
Stmt NestBuilder::with_attached(Frame& f, std::size_t position, Stmt body) {
  const std::string& loop = f.stage.iters[f.stage.loops[position]].name;
  std::vector<Stmt> stmts;
  std::vector<ir::Buffer> buffers;
  for (std::size_t i = 0; i < state_.stages.size(); ++i) {
    const StageState& other = *state_.stages[i];
    if (other.at_stage != f.stage.stage.name || other.at_loop != loop) continue;
    stmts.push_back(nest(static_cast<int>(i)));
    const std::vector<ir::Buffer> own = places_.buffers_of(static_cast<int>(i));
    buffers.insert(buffers.end(), own.begin(), own.end());
  }
  stmts.push_back(std::move(body));
  Stmt whole = ir::block(std::move(stmts));
  for (auto b = buffers.rbegin(); b != buffers.rend(); ++b) whole = ir::allocate(*b, whole);
  return whole;
}

Stmt NestBuilder::update(Frame& f) {
  const ir::Stage& stage = f.stage.stage;
  std::vector<Expr> values;
  for (const Expr& each : stage.values) {
    Expr value = ir::substitute(without_skipped(each, stage, skips_[f.index]), f.axes);
    if (goes_on(f)) {
      value = product_beyond(value, stage.reduction, f.reduce_guards, ranges_).value_or(value);
    }
    value = places_.rewrite_reads(value);
    values.push_back(zero_unless(f.zero_guards, value));
  }
  std::vector<ir::Buffer> buffers = places_.buffers_of(f.index);
  const auto index = store_index(f);
  std::vector<Expr> reduction_vars;
  for (int loop : f.stage.loops) {
    if (f.stage.iters[loop].reduce) reduction_vars.push_back(f.values[loop]);
  }
  UpdateParts parts = make_update(stage.reduction, buffers, index, values,
                                  starts_by_itself(f.stage) ? &reduction_vars : nullptr);
  std::vector<Expr> guards = f.guards;
  guards.insert(guards.end(), f.reduce_guards.begin(), f.reduce_guards.end());
  // Terms may be skipped on what memory holds, which is only read where the other guards hold.
  return guarded(guards, guarded(parts.guards, parts.body));
}

Stmt NestBuilder::init_nest(Frame& f, std::size_t position) {
  if (position == f.stage.loops.size()) {
    std::vector<Stmt> stores;
    const auto index = store_index(f);
    for (const ir::Buffer& buffer : places_.buffers_of(f.index)) {
      const bool carried = !stores.empty();  // the index of a pair
      stores.push_back(
          ir::store(buffer, index, initial_value(f.stage.stage.reduction, buffer->type, carried)));
    }
    return guarded(f.guards, ir::block(std::move(stores)));
  }
  Stmt inner = init_nest(f, position + 1);
  const auto& loop = f.stage.iters[f.stage.loops[position]];
  return loop.reduce ? inner : loop_over(f, position, loop.notes, inner);
}

// The loops from `position` inwards as one call, where all of them run whole.
Result<Stmt> NestBuilder::tensor_call(Frame& f, std::size_t position) const {
  const ir::TensorIntrinsic& intrinsic = *ir::find_tensor_intrinsic(f.stage.intrinsic);
  ATTUNE_ASSIGN(
      const std::vector<schedule::TensorMatch> matches,
      schedule::match_tensor(f.stage, f.bounds.iters, static_cast<int>(position), intrinsic));
  const auto wrong = [&](const std::string& why) {
    return invalid(fmt::format("stage '{}' does not fit intrinsic '{}': {}", f.stage.stage.name,
                               intrinsic.name, why),
                   "split its loops by the intrinsic's extents");
  };
  std::vector<Expr> guards = f.guards;
  guards.insert(guards.end(), f.reduce_guards.begin(), f.reduce_guards.end());
  const LaunchAxes::Lanes lanes = axes_.lanes(f.index);
  if (intrinsic.lanes() > 1) {
    if (lanes.count != intrinsic.lanes()) {
      return wrong(fmt::format("thread.x has {} threads, and {} lanes run it together", lanes.count,
                               intrinsic.lanes()));
    }
    for (const Expr& guard : guards) {
      if (ir::uses_var(guard, lanes.variable)) return wrong("not all lanes of a warp take part");
    }
  }
  for (std::size_t i = position; i < f.stage.loops.size(); ++i) {
    const auto& iter = f.stage.iters[f.stage.loops[i]];
    const std::string variable = schedule::loop_variable(f.stage, f.stage.loops[i]);
    for (const Expr& guard : guards) {
      if (ir::uses_var(guard, variable)) {
        return wrong(fmt::format("the last tile of loop '{}' is not whole", iter.name));
      }
    }
    for (const auto& other : state_.stages) {
      if (other->at_stage == f.stage.stage.name && other->at_loop == iter.name) {
        return wrong(
            fmt::format("stage '{}' is computed at loop '{}'", other->stage.name, iter.name));
      }
    }
  }
  Status first;  // what is wrong with the first way
  for (const schedule::TensorMatch& match : matches) {
    TileAccesses tile = accesses_of(f, match);
    if (intrinsic.lanes() > 1) tile.lane = lanes.variable;
    Result<Stmt> call = make_tensor_call(intrinsic, tile, ranges_);
    if (call.ok()) return guarded(guards, std::move(*call));
    if (first.ok()) first = call.error();
  }
  return first.error();
}

TileAccesses NestBuilder::accesses_of(Frame& f, const schedule::TensorMatch& match) const {
  TileAccesses tile;
  for (int loop : match.loops) {
    tile.variables.push_back(loop < 0 ? "" : schedule::loop_variable(f.stage, loop));
  }
  tile.operands.push_back(ir::load(places_.buffers_of(f.index)[0], store_index(f)));
  for (const Expr& read : match.reads) {
    tile.rounded.push_back(is_rounded(state_, *ir::find_tensor_intrinsic(f.stage.intrinsic), read));
    tile.operands.push_back(places_.rewrite_reads(ir::substitute(read, f.axes)));
  }
  return tile;
}

Stmt NestBuilder::loops_from(Frame& f, std::size_t position) {
  if (position == f.stage.loops.size()) return update(f);
  if (f.stage.loops[position] == f.stage.tensorized) {
    Result<Stmt> call = tensor_call(f, position);
    if (!call.ok()) {
      status_ = call.error();
      return ir::block({});
    }
    if (f.first_reduce < position) return *call;
    return ir::block({init_nest(f, position), *call});
  }
  Stmt body = with_attached(f, position, loops_from(f, position + 1));
  const auto notes = schedule::with_pipelines(state_, f.stage, f.stage.loops[position]);
  Stmt loop = loop_over(f, position, notes, std::move(body));
  const bool starts = f.stage.tensorized < 0 && starts_by_itself(f.stage);
  if (position != f.first_reduce || starts) return loop;
  return ir::block({init_nest(f, position), loop});
}

Stmt NestBuilder::nest(int index) {
  Frame f = frame(index);
  const auto& loops = f.stage.loops;
  if (f.stage.tensorized >= 0 &&
      std::find(loops.begin(), loops.end(), f.stage.tensorized) == loops.end()) {
    status_ = invalid(fmt::format("the loops of stage '{}' were split or fused after tensorize",
                                  f.stage.stage.name),
                      "tensorize comes last");
  }
  return loops_from(f, 0);
}

}  // namespace

Result<Nests> build_nests(const State& state) {
  ATTUNE_ASSIGN(const auto bounds, schedule::infer_bounds(state, schedule::Mins::Compute));
  ATTUNE_RETURN_IF_ERROR(check_storage(state, bounds));
  NestBuilder builder(state, bounds);
  const std::vector<bool> constant = constant_stages(state);
  const auto prepared = [&](int stage) { return constant[stage] && !state.is_output(stage); };
  std::vector<Stmt> prepare, main;
  std::vector<ir::Buffer> main_buffers, prepare_buffers;
  Nests nests;
  for (int i = 0; i < static_cast<int>(state.stages.size()); ++i) {
    if (!state.stages[i]->at_root()) continue;
    (prepared(i) ? prepare : main).push_back(builder.root_nest(i));
    ATTUNE_RETURN_IF_ERROR(builder.status());
    const bool read_by_main = std::ranges::any_of(state.consumers_of(i), [&](int consumer) {
      return !prepared(schedule::root_of(state, consumer));
    });
    for (const ir::Buffer& buffer : builder.places().buffers_of(i)) {
      const auto& outputs = state.outputs;
      if (std::find(outputs.begin(), outputs.end(), buffer) != outputs.end()) continue;
      if (prepared(i) && read_by_main) ATTUNE_RETURN_IF_ERROR(require_global(*buffer));
      if (!prepared(i)) {
        main_buffers.push_back(buffer);
      } else {
        (read_by_main ? nests.prepared : prepare_buffers).push_back(buffer);
      }
    }
  }
  if (!prepare.empty()) nests.prepare = with_buffers(std::move(prepare), prepare_buffers);
  nests.main = with_buffers(std::move(main), main_buffers);
  return nests;
}

}  // namespace attune::lower
