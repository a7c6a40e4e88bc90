// Winograd for transposed convolutions: each phase (phases.h) is a convolution of stride 1 with few
// taps, so minimal filtering F(m, r) applies to it, r being the taps that a place meets. The stages
// are those of winograd.h, with the axes ph and pw.
#pragma once

#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

bool winograd_transpose_applies(const Conv2dTransposeOptions& options, int m);
Result<ir::Program> build_winograd_transpose(const Conv2dTransposeOptions& options, int m);

}  // namespace attune::ops
