// The verifier: says whether a kernel or a program (verify in tensor_expr.h) is well formed, and
// names the node that is not. It runs after every lowering pass in debug builds.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::ir {

// Types fit, variables are defined and their names unique along every path, buffers exist where
// they are used, with the right rank; loops, barriers and intrinsics are used as they are declared.
Status verify(const Kernel& kernel);

}  // namespace attune::ir
