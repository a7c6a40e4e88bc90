// Transposed convolution as a matrix product for each phase (phases.h): the stage `columns` holds,
// for every place p of a phase, the input elements that its taps meet; the anchor has the axes n,
// oc (blocks), ph, pw, p, ob and the reductions r (block of input channels and tap) and ib. The
// weights are `filter.gemm`, [ph, pw, oc, r, ib]. The stage `output` picks its elements from the
// phases.
#pragma once

#include "compiler/ops/algorithms/conv2d_transpose_algorithms.h"

namespace attune::ops {

Result<ir::Program> build_transpose_gemm(const Conv2dTransposeOptions& options);

Conv2dTransposeAlgorithm transpose_gemm_algorithm();

}  // namespace attune::ops
