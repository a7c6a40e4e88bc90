// Transposed convolution of blocked activations with constant weights [ic, oc / groups, kh, kw];
// the output has (size - 1) * stride + span - padding + output_pad positions.
//
// With a stride and no dilation it is written phase by phase (phases.h): the anchor has the axes n,
// oc, ph, pw (position modulo stride), y, x (position divided by it), ob, reads the taps that meet
// a place, and is linear in all axes; the stage `filter` is [oc, ic, ph, pw, kh, kw]. Otherwise it
// is a gather with the axes of conv2d, in which taps that do not meet a position read zero.
#pragma once

#include "compiler/ops/forms/channels.h"
#include "compiler/ops/forms/family.h"
#include "compiler/ops/window.h"

namespace attune::ops {

struct Conv2dTransposeOptions {
  std::int64_t n = 1, ic = 1, oc = 1, groups = 1;
  Window h, w;  // padding is cut off the output
  std::int64_t output_pad_h = 0, output_pad_w = 0;
  std::int64_t block = 8;
  ir::DType dtype = ir::kF32;

  Channels channels() const { return {ic, oc, groups, block}; }
  std::int64_t output_h() const { return output_size(h) + output_pad_h; }
  std::int64_t output_w() const { return output_size(w) + output_pad_w; }

 private:
  static std::int64_t output_size(const Window& window) {
    return (window.size - 1) * window.stride + window.span() - window.pad_before - window.pad_after;
  }
};

Status validate(const Conv2dTransposeOptions& options);
double flops(const Conv2dTransposeOptions& options);
Result<ir::Program> build_conv2d_transpose(const Conv2dTransposeOptions& options);

}  // namespace attune::ops
