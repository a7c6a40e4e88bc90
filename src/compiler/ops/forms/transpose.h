// Transposition of a [d0, d1, d2] tensor: dimension x of the output is dimension perm[x] of the
// input. The only stage is `output` with the axes i, j, k.
#pragma once

#include <array>

#include "compiler/ops/forms/family.h"

namespace attune::ops {

struct TransposeOptions {
  std::array<std::int64_t, 3> shape{1, 1, 1};
  std::array<int, 3> perm{0, 1, 2};
  ir::DType dtype = ir::kF32;
};

Result<ir::Program> build_transpose(const TransposeOptions& options);

}  // namespace attune::ops
