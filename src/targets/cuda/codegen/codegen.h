// Code for CUDA devices: kernels as CUDA C++, which NVRTC compiles, and beside the machine code how
// its functions are to be launched (device/image.h).
#pragma once

#include "compiler/codegen/code_generator.h"

namespace attune::cuda {

extern const codegen::CodeGenerator code_generator;

}  // namespace attune::cuda
