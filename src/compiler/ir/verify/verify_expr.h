// The part of the verifier that looks at single expression nodes: a table of rules.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

// Checks one node, not its children.
Status verify_node(const Expr& e);
// The text of a node for a message, cut when it is long.
std::string shown(const Expr& e);
// A buffer's type and shape make sense and its size can be computed.
Status verify_buffer(const BufferNode& buffer);

}  // namespace attune::ir
