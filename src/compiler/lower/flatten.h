// Flattening: every buffer becomes one-dimensional, every access one index.
#pragma once

#include <vector>

#include "compiler/ir/nodes/stmt.h"

namespace attune::lower {

ir::Kernel flatten(const ir::Kernel& kernel);
// Where an element lies then.
ir::Expr flat_index(const ir::BufferNode& buffer, const std::vector<ir::Expr>& index);

}  // namespace attune::lower
