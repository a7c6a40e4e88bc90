// Matrix products. matmul multiplies two run-time matrices, dense a run-time one with constant
// weights, batch_matmul many pairs. All are row-major; the anchor has the axes (b,) i, j and the
// reduction k.
#pragma once

#include "compiler/ops/forms/family.h"

namespace attune::ops {

struct MatmulOptions {
  std::int64_t m = 1, n = 1, k = 1;
  ir::DType dtype = ir::kF32;
};

// a[m, k] * b[k, n].
Result<ir::Program> build_matmul(const MatmulOptions& options);
// data[m, k] * weight[k, n], the weights constant and read through the stage `filter`.
Result<ir::Program> build_dense(const MatmulOptions& options);
// a[batch, m, k] * b[batch, k, n].
Result<ir::Program> build_batch_matmul(std::int64_t batch, const MatmulOptions& options);
double flops(const MatmulOptions& options);

}  // namespace attune::ops
