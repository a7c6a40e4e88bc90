// Maximum and average pooling of blocked activations, [n, ceil(c / B), h, w, B]. The anchor has the
// axes n, c (blocks), oh, ow, cb and the reductions kh, kw; the average divides in `output`.
#pragma once

#include "compiler/ops/forms/channels.h"
#include "compiler/ops/forms/family.h"
#include "compiler/ops/window.h"

namespace attune::ops {

enum class PoolKind : std::uint8_t { Max, Average };

struct PoolOptions {
  PoolKind kind = PoolKind::Max;
  std::int64_t n = 1, c = 1;
  Window h, w;
  // Whether the average divides by all taps, or by those inside the image.
  bool count_include_pad = false;
  std::int64_t block = 8;
  ir::DType dtype = ir::kF32;
};

Status validate(const PoolOptions& options);
double flops(const PoolOptions& options);
Result<ir::Program> build_pool(const PoolOptions& options);

}  // namespace attune::ops
