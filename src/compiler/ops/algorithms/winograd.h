// Winograd convolution F(m, r): a 3x3 convolution with stride 1 (r = 3), or one with a stride whose
// phases become channels (folded_conv2d.h; r taps are left in each dimension). Its stages are
//   filter       canonical weights, zero-filled to whole blocks
//   pad          the input, zero-filled to whole tiles
//   those of winograd_stages.h
//   output.wino  [n, oc, oh, ow, ob]      (A^T M) A, without what lies beyond the image
//   output
#pragma once

#include "compiler/ops/algorithms/conv2d_algorithms.h"
#include "compiler/ops/algorithms/winograd_stages.h"

namespace attune::ops {

bool winograd_applies(const Conv2dOptions& options, int m);
Result<ir::Program> build_winograd(const Conv2dOptions& options, int m);

template <int m>
Conv2dAlgorithm winograd_algorithm() {
  return {"winograd" + std::to_string(m),
          "a 3x3 kernel with stride 1, or a stride that leaves several taps and far fewer "
          "multiplications; dilation 1, one group, more than 4 input channels unless there is a "
          "stride, and floating-point elements",
          [](const Conv2dOptions& options) { return winograd_applies(options, m); },
          [](const Conv2dOptions& options) -> Result<AlgorithmDef> {
            ATTUNE_ASSIGN(ir::Program program, build_winograd(options, m));
            return AlgorithmDef{"winograd" + std::to_string(m), std::move(program),
                                winograd_tolerance(m, options.dtype), true};
          }};
}

}  // namespace attune::ops
