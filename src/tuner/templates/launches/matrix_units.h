// Which tensor intrinsic of a device multiplies the terms of a product: of those that the target
// states, the first whose meaning is what the product says, in its precision.
#pragma once

#include <optional>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/target/launch_facts.h"

namespace attune::templates {

struct MatrixUse {
  const ir::TensorIntrinsic* intrinsic = nullptr;
  std::int64_t terms = 0;  // of one call
  double fmas_per_cycle = 0;
};

// Of instructions of warps; nothing when the device has none for the stage's product. Factors that
// the program does not round are not rounded.
std::optional<MatrixUse> matrix_use(const ir::Stage& stage, const target::LaunchFacts& device);

// Whether the device copies pieces of memory by itself: those whose warpgroups multiply do.
bool copies_in_bulk(const target::LaunchFacts& device);

}  // namespace attune::templates
