// Products that may round their operands to tf32, which units of some devices do: a heavy node says
// so by an attribute, and the program of its task rounds the factors of its sums in so many words.
// So its key differs, the interpreter knows what is right, and an instruction that does the same is
// found by its meaning.
#pragma once

#include <string_view>

#include "compiler/graph/graph.h"
#include "compiler/ops/operator.h"

namespace attune::graph {

// Of heavy nodes; its value is "tf32".
inline constexpr std::string_view kOperandsAttribute = "operands";

// Depthwise ones have no such units.
bool rounds_operands(const Graph& graph, const Node& node);

// An f32 value to the nearest that has 10 bits behind the leading one, halves away from zero.
ir::Expr rounded_to_tf32(const ir::Expr& value);

// The operator and its other algorithms with the factors of their sums rounded, and a tolerance
// that fits.
void round_operands(ops::Operator& op);

}  // namespace attune::graph
