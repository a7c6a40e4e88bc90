#include "compiler/graph/tasks/roundings.h"

#include "compiler/ir/nodes/rewrite.h"

namespace attune::graph {
namespace {

bool is_half(ir::DType type) { return type == ir::kF16 || type == ir::kBF16; }

}  // namespace

ir::Expr before_rounding(const ir::Expr& value) {
  const auto* rounded = ir::as<ir::Cast>(value);
  const bool applies =
      rounded != nullptr && is_half(value.type()) && rounded->value.type() == ir::kF32;
  return applies ? rounded->value : value;
}

ir::Expr without_roundings(const ir::Expr& value) {
  const auto* widened = ir::as<ir::Cast>(value);
  if (widened != nullptr && value.type() == ir::kF32) {
    const ir::Expr before = before_rounding(widened->value);
    if (before.type() == ir::kF32 && ir::as<ir::Load>(before) != nullptr) return before;
  }
  return ir::map_children(value, without_roundings);
}

ir::Stage renamed_unrounded(ir::Stage stage, const std::string& name) {
  stage.name = name;
  stage.values[0] = before_rounding(stage.values[0]);
  stage.outputs = {ir::make_buffer(name, stage.values[0].type(), stage.outputs[0]->shape)};
  return stage;
}

}  // namespace attune::graph
