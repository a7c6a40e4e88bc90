// Winograd for transposed convolutions with few output channels: several phases (phases.h) lie side
// by side in the lanes of one channel block, as output channels of one convolution of stride 1
// whose window covers the taps of all phases. The stages are those of winograd.h for that
// convolution; the stage `output` picks each phase's lanes.
#pragma once

#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

bool packed_transpose_applies(const Conv2dTransposeOptions& options, int m);
Result<ir::Program> build_packed_transpose(const Conv2dTransposeOptions& options, int m);

}  // namespace attune::ops
