// How the lanes of a warp lie in an operand of a tensor intrinsic that they run together, and what
// is known of its elements.
#pragma once

#include <string>

#include "base/result.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/schedule/state.h"

namespace attune::lower {

// How far apart the steps of lanes lie in memory, of an input whose first element for a lane is at
// `place`: in every lane it must be as many steps from that of lane 0 as the intrinsic declares.
Result<std::int64_t> lane_step(const ir::TensorIntrinsic& intrinsic, std::size_t operand,
                               const ir::Expr& place, const std::string& lane,
                               const ir::Ranges& ranges);

// Whether what is read was rounded as the intrinsic would when it was computed, and only copied
// since.
bool is_rounded(const schedule::State& state, const ir::TensorIntrinsic& intrinsic,
                const ir::Expr& read);

}  // namespace attune::lower
