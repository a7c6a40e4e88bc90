#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/schedule/loop_values.h"
#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

std::string axis_name(std::string loop) {
  std::replace_if(
      loop.begin(), loop.end(), [](char c) { return c == '.' || c == '*'; }, '_');
  return loop;
}

// The partial stage: reduces over all reduction loops but `kept`, which is its last axis.
Result<ir::Stage> partial_stage(const StageState& stage, int kept) {
  ir::Stage partial = stage.stage;
  partial.name = "rf." + stage.stage.name;
  partial.reduce_axes.clear();
  std::vector<std::int64_t> extents;
  for (const ir::Axis& axis : stage.stage.axes) extents.push_back(axis.extent);
  for (const ir::Axis& axis : stage.stage.reduce_axes) extents.push_back(axis.extent);
  const auto iter_extents = loop_extents(stage, extents);
  std::vector<ir::Expr> values(stage.iters.size());
  for (int loop : stage.loops) {
    if (!stage.iters[loop].reduce) continue;
    const ir::Axis axis{axis_name(stage.iters[loop].name), iter_extents[loop]};
    (loop == kept ? partial.axes : partial.reduce_axes).push_back(axis);
    values[loop] = ir::axis_var(axis);
  }
  fill_values(stage, iter_extents, values);
  ir::Bindings bindings;
  for (std::size_t i = 0; i < stage.stage.reduce_axes.size(); ++i) {
    bindings[stage.stage.reduce_axes[i].name] = values[stage.stage.axes.size() + i];
  }
  ir::Expr guard;
  for (const ir::Expr& inside : split_guards(stage, iter_extents, values, Loops::Reduce)) {
    guard = guard ? guard && inside : inside;
  }
  ir::Expr value = ir::substitute(stage.stage.values[0], bindings);
  if (guard) {
    value = ir::select(guard, value, ir::identity_of(stage.stage.reduction, value.type()));
  }
  partial.values = {value};
  std::vector<std::int64_t> shape;
  for (const ir::Axis& axis : partial.axes) shape.push_back(axis.extent);
  partial.outputs = {ir::make_buffer(partial.name, value.type(), shape)};
  if (partial.reduce_axes.empty()) partial.reduction = ir::Reduction::None;
  return partial;
}

Status check_factors(const State& state, const StageState& stage, int kept, const Rfactor& step) {
  if (!stage.iters[kept].reduce || stage.stage.outputs.size() != 1) {
    return invalid(fmt::format("loop '{}' of stage '{}' is not a reduction that can be factored",
                               step.loop, step.stage),
                   "rfactor takes a reduction loop of a single-valued reduction");
  }
  if (state.find("rf." + step.stage) >= 0) {
    return invalid(fmt::format("stage '{}' is factored already", step.stage),
                   "rfactor a stage once");
  }
  const bool fused =
      std::any_of(stage.relations.begin(), stage.relations.end(), [&](const Relation& relation) {
        const auto* fuse = std::get_if<FuseRelation>(&relation);
        return fuse && !stage.iters[fuse->child].reduce;
      });
  if (fused || !stage.at_root()) {
    return invalid(fmt::format("stage '{}' has fused axes or is not at root", step.stage),
                   "rfactor before fuse and compute_at");
  }
  return {};
}

}  // namespace

Status apply_step(State& state, const Rfactor& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], step.loop));
  const StageState& stage = *state.stages[index];
  const int kept = stage.loops[position];
  ATTUNE_RETURN_IF_ERROR(check_factors(state, stage, kept, step));
  ATTUNE_ASSIGN(ir::Stage partial, partial_stage(stage, kept));

  // The stage itself: reduces over the kept axis; loops over its own axes stay as they are.
  ir::Stage total = stage.stage;
  const ir::Axis kept_axis = partial.axes.back();
  total.reduce_axes = {kept_axis};
  std::vector<ir::Expr> at;
  for (const ir::Axis& axis : partial.axes) at.push_back(ir::axis_var(axis));
  total.values = {ir::load(partial.outputs[0], at)};
  StageState fresh = make_stage_state(total);
  const int axes = static_cast<int>(total.axes.size());
  fresh.loops.clear();
  std::vector<int> moved(stage.iters.size(), -1);
  for (int i = 0; i < axes; ++i) moved[i] = i;
  moved[kept] = axes;
  fresh.iters[axes].notes = stage.iters[kept].notes;
  for (const Relation& relation : stage.relations) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (!split || stage.iters[split->parent].reduce) continue;
    SplitRelation copy{moved[split->parent], {}, split->factors};
    for (int child : split->children) {
      moved[child] = static_cast<int>(fresh.iters.size());
      copy.children.push_back(moved[child]);
      fresh.iters.push_back(stage.iters[child]);
    }
    fresh.relations.push_back(std::move(copy));
  }
  for (int loop : stage.loops) {
    if (moved[loop] >= 0) fresh.loops.push_back(moved[loop]);
  }
  fresh.notes = stage.notes;
  fresh.scope = stage.scope;
  fresh.layout = stage.layout;
  fresh.padding = stage.padding;
  state.stages[index] = std::make_shared<StageState>(std::move(fresh));
  state.stages.insert(state.stages.begin() + index,
                      std::make_shared<StageState>(make_stage_state(std::move(partial))));
  return {};
}

}  // namespace attune::schedule
