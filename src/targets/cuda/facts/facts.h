// CUDA devices as targets: `cuda -arch=sm_90a`.
#pragma once

#include "compiler/target/kind.h"

namespace attune::cuda {

extern const target::Kind target_kind;

}  // namespace attune::cuda
