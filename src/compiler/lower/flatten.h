// Flattening: every buffer becomes one-dimensional, every access one index.
#pragma once

#include "compiler/ir/nodes/stmt.h"

namespace attune::lower {

ir::Kernel flatten(const ir::Kernel& kernel);

}  // namespace attune::lower
