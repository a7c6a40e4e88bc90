// What a device has no room or no instructions for is refused before it is compiled.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/target/launch_facts.h"
#include "compiler/target/target.h"
#include "targets/cuda/codegen/kernel_text.h"

namespace attune::cuda {

Status check_limits(const std::string& kernel, const KernelText& text,
                    const target::LaunchFacts& device);

// Whether the card has the instructions of warps that the kernel calls.
Status check_matrix_units(const ir::Kernel& kernel, const target::Target& target);

}  // namespace attune::cuda
