// Reductions of the rows of an [m, n] matrix to [m]: sum, mean, prod, max, min, and argmax and
// argmin, whose result is the i64 position of the first extreme element. The anchor has the axis i
// and the reduction j; the mean divides in `output`.
#pragma once

#include "compiler/ops/forms/family.h"

namespace attune::ops {

enum class ReduceOp : std::uint8_t { Sum, Mean, Prod, Max, Min, ArgMax, ArgMin };

struct ReduceOptions {
  ReduceOp op = ReduceOp::Sum;
  std::int64_t m = 1, n = 1;
  ir::DType dtype = ir::kF32;
};

double flops(const ReduceOptions& options);
Result<ir::Program> build_reduce(const ReduceOptions& options);

}  // namespace attune::ops
