// Winograd convolution F(m, 3), m = 2, 4 or 6: a 3x3 convolution with stride 1. Its stages are
//   filter       canonical weights, zero-filled to whole blocks
//   pad          the input, zero-filled to whole tiles
//   those of winograd_stages.h
//   output.wino  [n, oc, oh, ow, ob]      (A^T M) A, without what lies beyond the image
//   output
#pragma once

#include "compiler/ops/conv2d_algorithms.h"
#include "compiler/ops/winograd_stages.h"

namespace attune::ops {

bool winograd_applies(const Conv2dOptions& options);
Result<ir::Program> build_winograd(const Conv2dOptions& options, int m);

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
