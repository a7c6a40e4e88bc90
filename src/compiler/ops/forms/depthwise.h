// Depthwise convolution of blocked activations, [n, ceil(c / B), h, w, B], with constant weights
// [c, 1, kh, kw]. The anchor has the axes n, c (blocks), oh, ow, cb (lane of a block) and the
// reductions kh, kw; the stage `filter` is [c rounded up, kh, kw].
#pragma once

#include "compiler/ops/forms/channels.h"
#include "compiler/ops/forms/family.h"
#include "compiler/ops/window.h"

namespace attune::ops {

struct DepthwiseOptions {
  std::int64_t n = 1, c = 1;
  Window h, w;
  std::int64_t block = 8;
  ir::DType dtype = ir::kF32;
};

Status validate(const DepthwiseOptions& options);
double flops(const DepthwiseOptions& options);
Result<ir::Program> build_depthwise(const DepthwiseOptions& options);

}  // namespace attune::ops
