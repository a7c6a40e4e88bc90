#include "compiler/lower/stage_places.h"

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/storage.h"

namespace attune::lower {

using ir::Expr;

StagePlaces::StagePlaces(const schedule::State& state,
                         const std::vector<schedule::StageBounds>& bounds, const ir::Ranges& ranges,
                         bool launched)
    : state_(state), bounds_(bounds), ranges_(ranges) {
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const schedule::StageState& stage = *state.stages[i];
    const auto shape = storage_shape(stage, bounds_[i]);
    for (const ir::Buffer& buffer : stage.stage.outputs) {
      producer_[buffer] = static_cast<int>(i);
      const bool output = state.is_output(static_cast<int>(i));
      storage_[buffer] = output ? buffer
                                : ir::make_buffer(buffer->name, buffer->type, shape,
                                                  storage_scope(stage, shape, launched));
    }
  }
}

std::vector<ir::Buffer> StagePlaces::buffers_of(int stage) const {
  std::vector<ir::Buffer> buffers;
  for (const ir::Buffer& buffer : state_.stages[stage]->stage.outputs) {
    buffers.push_back(storage_.at(buffer));
  }
  return buffers;
}

std::vector<Expr> StagePlaces::place(int stage, const std::vector<Expr>& index) const {
  if (state_.is_output(stage)) return index;
  std::vector<Expr> local;
  for (std::size_t i = 0; i < index.size(); ++i) {
    local.push_back(ir::simplify(index[i] - bounds_[stage].min[i], ranges_));
  }
  return storage_place(*state_.stages[stage], bounds_[stage], std::move(local), ranges_);
}

Expr StagePlaces::rewrite_reads(const Expr& e) const {
  const Expr mapped = ir::map_children(e, [&](const Expr& child) { return rewrite_reads(child); });
  const auto* load = ir::as<ir::Load>(mapped);
  if (!load) return mapped;
  const auto found = producer_.find(load->buffer);
  if (found == producer_.end()) return mapped;
  return ir::load(storage_.at(load->buffer), place(found->second, load->index));
}

}  // namespace attune::lower
