// Roundings within a task. Values of 16 bits are computed in f32: where one goes from one node of a
// group to the next without being stored it stays in f32, and only what the task gives is rounded.
// What the graph rounds by a cast stays rounded.
#pragma once

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::graph {

// The f32 value that a value of 16 bits is rounded from; others as they are.
ir::Expr before_rounding(const ir::Expr& value);
// Values in f32 that are read as rounded and widened again, read as they are.
ir::Expr without_roundings(const ir::Expr& value);
// A stage under another name, its value before it is rounded.
ir::Stage renamed_unrounded(ir::Stage stage, const std::string& name);

}  // namespace attune::graph
