// Instructions of warpgroups in CUDA C++: a function for each that a kernel calls.
#pragma once

#include <string>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::cuda {

// "at_wgmma_64x64x16_f16"
std::string warpgroup_function(const ir::TensorIntrinsic& intrinsic);
// The functions for all that a statement calls.
std::string warpgroup_functions(const ir::Stmt& s);

}  // namespace attune::cuda
