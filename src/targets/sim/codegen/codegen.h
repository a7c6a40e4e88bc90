// Code for the simulated device: the text of lowered kernels, one after the other, which the device
// parses. What would not fit the device is refused.
#pragma once

#include "compiler/codegen/code_generator.h"

namespace attune::sim {

extern const codegen::CodeGenerator code_generator;

}  // namespace attune::sim
