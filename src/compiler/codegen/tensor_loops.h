// Tensor intrinsics as the loops they stand for, for devices without such an instruction.
#pragma once

#include "compiler/ir/nodes/stmt.h"

namespace attune::codegen {

// Every call of a tensor intrinsic becomes loops over its tile, the reduction outermost; those of a
// warp, which no thread has the meaning of, stay. The kernel must have one index per access.
ir::Stmt expand_tensor_calls(const ir::Stmt& s);

}  // namespace attune::codegen
