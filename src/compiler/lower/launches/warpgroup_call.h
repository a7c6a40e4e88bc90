// How a matrix in shared memory that an instruction of a warpgroup reads lies there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::lower {

// In elements: between those that are 16 bytes of terms apart, and between groups of eight rows.
struct MatrixDistances {
  std::int64_t lead = 0, group = 0;
};

// What a place depends on, besides where the matrix begins.
struct MatrixVariables {
  std::string lane;
  std::vector<std::string> loops;  // by dimension; "" for one without a loop
};

// The distances of an input whose elements a lane finds at `place`. Each must lie where the
// intrinsic reads it.
Result<MatrixDistances> matrix_distances(const ir::TensorIntrinsic& intrinsic, std::size_t operand,
                                         const ir::Expr& place, const MatrixVariables& variables,
                                         const ir::Ranges& ranges);

}  // namespace attune::lower
