// cache_read and cache_write: copies that a schedule may place, lay out and scope as it likes.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/primitives.h"
#include "compiler/schedule/rewrite_stage.h"

namespace attune::schedule {
namespace {

Status require_new(const State& state, const std::string& name) {
  if (state.find(name) < 0) return {};
  return invalid(fmt::format("there is a stage '{}' already", name), "a tensor is cached once");
}

ir::Buffer find_buffer(const State& state, const std::string& name) {
  for (const ir::Input& input : state.inputs) {
    if (input.buffer->name == name) return input.buffer;
  }
  const int stage = state.find(name);
  return stage < 0 ? nullptr : state.stages[stage]->stage.outputs[0];
}

std::vector<ir::Axis> axes_for(const State& state, const ir::Buffer& buffer) {
  const int producer = state.producer_of(buffer);
  if (producer >= 0) return state.stages[producer]->stage.axes;
  std::vector<ir::Axis> axes;
  for (std::size_t i = 0; i < buffer->shape.size(); ++i) {
    axes.push_back({fmt::format("i{}", i), buffer->shape[i]});
  }
  return axes;
}

}  // namespace

Status apply_step(State& state, const CacheRead& step) {
  const ir::Buffer buffer = find_buffer(state, step.tensor);
  if (!buffer) {
    return invalid(fmt::format("there is no tensor '{}'", step.tensor),
                   "cache_read names an input or a stage");
  }
  ATTUNE_ASSIGN(const int consumer, require_stage(state, step.consumer));
  const std::string name = "cache." + step.tensor;
  ATTUNE_RETURN_IF_ERROR(require_new(state, name));
  const auto& accesses = state.stages[consumer]->accesses;
  if (std::none_of(accesses.begin(), accesses.end(),
                   [&](const Access& access) { return access.buffer == buffer; })) {
    return invalid(fmt::format("stage '{}' does not read '{}'", step.consumer, step.tensor),
                   "name a stage that reads the tensor");
  }
  const ir::Buffer copy = ir::make_buffer(name, buffer->type, buffer->shape);
  redirect_reads(state.edit(consumer), buffer, copy);
  auto stage = make_stage_state(copy_stage(name, buffer, copy, axes_for(state, buffer)));
  state.stages.insert(state.stages.begin() + consumer,
                      std::make_shared<StageState>(std::move(stage)));
  return {};
}

Status apply_step(State& state, const CacheWrite& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  const auto old = state.stages[index];
  const std::string name = "cache." + step.stage;
  ATTUNE_RETURN_IF_ERROR(require_new(state, name));
  if (!old->untouched() || old->stage.outputs.size() != 1) {
    return invalid(
        fmt::format("cache_write of stage '{}' after its loops were changed", step.stage),
        "cache_write comes before other steps on the stage, and not on pairs");
  }
  ir::Stage computing = old->stage;
  const ir::Buffer& result = old->stage.outputs[0];
  const ir::Buffer cache = ir::make_buffer(name, result->type, result->shape);
  computing.name = name;
  computing.outputs = {cache};
  auto copying = make_stage_state(copy_stage(step.stage, cache, result, old->stage.axes));
  state.stages[index] = std::make_shared<StageState>(std::move(copying));
  state.stages.insert(state.stages.begin() + index,
                      std::make_shared<StageState>(make_stage_state(std::move(computing))));
  return {};
}

}  // namespace attune::schedule
