#include "compiler/lower/launches/launch_axes.h"

#include <algorithm>
#include <cctype>

#include "compiler/schedule/bindings.h"

namespace attune::lower {

using ir::Expr;
using schedule::StageState;

namespace {

std::string axis_variable(const StageState& root, const std::string& axis) {
  std::string name = root.stage.name + "_" + axis;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

bool is_bound(const StageState& stage, int loop) {
  return stage.iters[loop].kind == ir::LoopKind::Bound;
}

}  // namespace

LaunchAxes::LaunchAxes(const schedule::State& state,
                       const std::vector<schedule::StageBounds>& bounds)
    : state_(state), bounds_(bounds), any_(schedule::has_bound_loops(state)) {
  if (!any_) return;
  for (int i = 0; i < static_cast<int>(state.stages.size()); ++i) {
    const StageState& stage = *state.stages[i];
    const int root = schedule::root_of(state, i);
    Axes& axes = launches_[root];
    for (int loop : stage.loops) {
      if (!is_bound(stage, loop)) continue;
      const std::string& name = stage.iters[loop].axis;
      Axis& axis = axes[name];
      axis.variable = axis_variable(*state.stages[root], name);
      axis.extent = std::max(axis.extent, bounds[i].iters[loop]);
      variables_[schedule::loop_variable(stage, loop)] = ir::var(axis.variable);
    }
  }
}

const LaunchAxes::Axes& LaunchAxes::axes_of(int stage) const {
  return launches_.at(schedule::root_of(state_, stage));
}

ir::Ranges LaunchAxes::with_ranges(ir::Ranges ranges) const {
  for (const auto& [root, axes] : launches_) {
    for (const auto& [name, axis] : axes) {
      ranges = ranges.with(axis.variable, ir::Interval::extent(axis.extent));
    }
  }
  return ranges;
}

std::vector<Expr> LaunchAxes::within_extents(int index) const {
  const StageState& stage = *state_.stages[index];
  std::vector<Expr> conditions;
  for (int loop : stage.loops) {
    if (!is_bound(stage, loop)) continue;
    const Axis& axis = axes_of(index).at(stage.iters[loop].axis);
    const std::int64_t extent = bounds_[index].iters[loop];
    if (extent < axis.extent) conditions.push_back(ir::var(axis.variable) < Expr(extent));
  }
  return conditions;
}

// Shared stages are computed by whichever threads they are bound to, so what they read of a
// thread's own memory must be there in all threads.
bool LaunchAxes::for_all_threads(int stage) const {
  if (schedule::is_shared(*state_.stages[stage])) return true;
  if (state_.stages[stage]->at_root()) return false;
  const auto consumers = state_.consumers_of(stage);
  return std::any_of(consumers.begin(), consumers.end(), [&](int consumer) {
    return for_all_threads(consumer) && !schedule::runs_within(state_, stage, consumer, 0);
  });
}

std::vector<Expr> LaunchAxes::inherited(int index) const {
  const StageState& stage = *state_.stages[index];
  if (stage.at_root() || schedule::is_shared(stage)) return within_extents(index);
  return for_all_threads(index) ? std::vector<Expr>() : inherited(state_.find(stage.at_stage));
}

std::vector<Expr> LaunchAxes::conditions(int index) const {
  if (!any_) return {};
  const StageState& stage = *state_.stages[index];
  std::vector<Expr> conditions = inherited(index);
  if (!stage.at_root() && !schedule::is_shared(stage)) return conditions;
  // Of threads that would all do the same, one does it.
  for (const auto& [name, axis] : axes_of(index)) {
    const auto bound = [&](int loop) { return stage.iters[loop].axis == name; };
    const bool used = std::any_of(stage.loops.begin(), stage.loops.end(), bound);
    if (used || axis.extent == 1 || schedule::is_block_axis(name)) continue;
    conditions.push_back(ir::var(axis.variable) == Expr(0));
  }
  return conditions;
}

LaunchAxes::Lanes LaunchAxes::lanes(int stage) const {
  if (!any_) return {};
  const auto found = axes_of(stage).find("thread.x");
  if (found == axes_of(stage).end()) return {};
  return {found->second.variable, found->second.extent};
}

ir::Stmt LaunchAxes::launch(int root, ir::Stmt nest) const {
  if (!any_) return nest;
  const auto names = schedule::hardware_axes();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const auto found = axes_of(root).find(*name);
    if (found == axes_of(root).end()) continue;
    const Axis& axis = found->second;
    nest = ir::make_stmt(ir::For{axis.variable,
                                 Expr(0),
                                 Expr(axis.extent),
                                 ir::LoopKind::Bound,
                                 std::string(*name),
                                 {},
                                 std::move(nest)});
  }
  return nest;
}

}  // namespace attune::lower
