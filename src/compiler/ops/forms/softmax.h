// Softmax over the rows of an [m, n] matrix: the stages `max` and `sum` [i] reduce over j, `exp`
// [i, j] holds exp(x - max) so that it is computed once, `output` [i, j] scales it.
#pragma once

#include "compiler/ops/forms/family.h"

namespace attune::ops {

struct SoftmaxOptions {
  std::int64_t m = 1, n = 1;
  ir::DType dtype = ir::kF32;
};

// Five operations per element: maximum, difference, exponential, sum, scaling.
double flops(const SoftmaxOptions& options);
Result<ir::Program> build_softmax(const SoftmaxOptions& options);

}  // namespace attune::ops
