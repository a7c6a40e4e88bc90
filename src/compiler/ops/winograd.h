// Winograd convolution F(m, 3), m = 2, 4 or 6: a 3x3 convolution with stride 1 on tiles of m x m
// outputs, t x t inputs (t = m + 2). All stages are ordinary ones, so a trace places the
// transforms:
//   filter       canonical weights, zero-filled to whole blocks
//   filter.rows  [i, kw, oc, ic]          G g, depends on constants only, as does
//   filter.wino  [i, j, oc, ic]           (G g) G^T
//   pad          the input, zero-filled to whole tiles
//   input.rows   [i, c, ic, tile, ib]     B^T d
//   input.wino   [i, j, ic, tile, ib]     (B^T d) B
//   anchor       [i, j, oc, tile, ob]     t * t products over ic, ib
//   output.rows  [y, j, oc, tile, ob]     A^T M
//   output.wino  [n, oc, oh, ow, ob]      (A^T M) A, without what lies beyond the image
//   output
// Tiles are numbered (n * tile rows + row) * tile columns + column.
#pragma once

#include "compiler/ops/conv2d_algorithms.h"

namespace attune::ops {

bool winograd_applies(const Conv2dOptions& options);
Result<ir::Program> build_winograd(const Conv2dOptions& options, int m);
// As AlgorithmDef::tolerance.
double winograd_tolerance(int m, ir::DType type);

template <int m>
Conv2dAlgorithm winograd_algorithm() {
  return {"winograd" + std::to_string(m),
          "a 3x3 kernel with stride 1 and dilation 1, one group, more than 4 input channels and "
          "floating-point elements",
          winograd_applies, [](const Conv2dOptions& options) -> Result<AlgorithmDef> {
            ATTUNE_ASSIGN(ir::Program program, build_winograd(options, m));
            return AlgorithmDef{"winograd" + std::to_string(m), std::move(program),
                                winograd_tolerance(m, options.dtype)};
          }};
}

}  // namespace attune::ops
