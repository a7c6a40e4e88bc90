// The call of a tensor intrinsic in place of the loops that it was matched with.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/lower/launches/warp_call.h"

namespace attune::lower {

// What the loops of one call access: loads of storage, over loop variables.
struct TileAccesses {
  std::vector<std::string> variables;  // of the loops, by axes and reduce axes of the meaning; ""
                                       // for an axis without a loop
  std::vector<ir::Expr> operands;      // the output, then the inputs
  std::string lane = {};               // the variable of a warp's lanes, if they run it together
  std::vector<bool> rounded = {};      // inputs that are known to be rounded as the intrinsic would
};

// The error says which operand is not where, or does not lie as, the intrinsic wants it.
Result<ir::Stmt> make_tensor_call(const ir::TensorIntrinsic& intrinsic, const TileAccesses& tile,
                                  const ir::Ranges& ranges);

}  // namespace attune::lower
