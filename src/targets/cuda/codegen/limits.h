// What a device has no room for is refused before it is compiled.
#pragma once

#include "base/result.h"
#include "compiler/target/launch_facts.h"
#include "targets/cuda/codegen/kernel_text.h"

namespace attune::cuda {

Status check_limits(const std::string& kernel, const KernelText& text,
                    const target::LaunchFacts& device);

}  // namespace attune::cuda
