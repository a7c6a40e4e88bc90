// Convolution as a matrix product ("im2col"): the stage `columns` holds, for every output pixel p,
// the input elements under the kernel; the anchor has the axes n, oc (blocks), p, ob and the
// reductions r (block of input channels and kernel position) and ib. Schedules may inline
// `columns`, which makes the product implicit, or store a part of it. The weights are
// `filter.gemm`, [oc, r, ib].
#pragma once

#include "compiler/ops/algorithms/conv2d_algorithms.h"

namespace attune::ops {

Result<ir::Program> build_conv2d_gemm(const Conv2dOptions& options);

Conv2dAlgorithm conv2d_gemm_algorithm();

}  // namespace attune::ops
