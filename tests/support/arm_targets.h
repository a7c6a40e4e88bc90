// Processors for ARM as targets of the conformance table: what is compiled for them here runs under
// an emulator (emulated.h), whole models by the ARM runtime, single kernels by its loader.
#pragma once

#include <string>
#include <vector>

#include "compiler/model/compile.h"
#include "runtime/memory/tensor.h"
#include "tests/support/conformance_targets.h"

namespace attune::test {

// A plain core, one with dot products and half floats, one between the two, and one whose scalable
// vectors are left alone.
inline constexpr const char* kArmCores[] = {"cortex-a72", "neoverse-n1", "cortex-a76",
                                            "neoverse-v1"};

// One of them with two threads.
target::Target arm_target(const std::string& core);

// The outputs of a model that was compiled for ARM.
Result<std::vector<runtime::Tensor>> run_on_arm(const model::CompiledModel& model,
                                                const std::vector<runtime::Tensor>& inputs);

const std::vector<ConformanceTarget>& arm_targets();

}  // namespace attune::test
