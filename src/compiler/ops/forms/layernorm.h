// Layer normalisation of the rows of an [m, n] matrix with constant gamma and beta [n]. Two passes,
// which is sound for rows far from zero: `mean` [i], then `var` [i], the mean of the squared
// distances from it; `output` [i, j] = (x - mean) / sqrt(var + epsilon) * gamma + beta.
#pragma once

#include "compiler/ops/forms/family.h"

namespace attune::ops {

struct LayernormOptions {
  std::int64_t m = 1, n = 1;
  double epsilon = 1e-5;
  ir::DType dtype = ir::kF32;
};

// Eight operations per element: sum; difference, square, sum; difference, scaling, gamma, beta.
double flops(const LayernormOptions& options);
Result<ir::Program> build_layernorm(const LayernormOptions& options);

}  // namespace attune::ops
