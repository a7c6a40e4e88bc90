// Does a loop nest compute what a tensor intrinsic means? The loops of a stage from some loop
// inwards are matched one to one with the axes of the intrinsic's meaning, and the reads of the
// stage with the intrinsic's inputs: the values have the same form, and a read moves with a loop
// where the input has the axis in its index.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/schedule/extents.h"
#include "compiler/schedule/state.h"

namespace attune::schedule {

struct TensorMatch {
  // Iters, by the axes and then the reduce axes of the meaning; -1 for an axis of extent 1 that no
  // loop stands for.
  std::vector<int> loops;
  // For each input, in the order of the meaning: the read of the stage (a Load over its axes).
  std::vector<ir::Expr> reads;
};

// All ways to match, at least one: the operands of a product may be either way round. `position` is
// that of the outermost loop in question; the error says what does not fit.
Result<std::vector<TensorMatch>> match_tensor(const StageState& stage, const Extents& iter_extents,
                                              int position, const ir::TensorIntrinsic& intrinsic);

}  // namespace attune::schedule
