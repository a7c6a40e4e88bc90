// Whether what a person writes of a CPU is known to LLVM, and kernels can be made for it: asked
// before LLVM is, which prints lines of its own and goes on, or ends the process.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace llvm {
class MCSubtargetInfo;
class Triple;
}  // namespace llvm

namespace attune::cpu {

// Kernels are for Linux on processors of 64 bits whose lowest byte comes first. `written` is the
// triple in the person's words.
Status check_triple(const llvm::Triple& triple, std::string_view written);

// `plain` is the architecture without a CPU name; `host_cpu` that of this machine where it is of
// that architecture, else empty.
Status check_cpu_name(const llvm::MCSubtargetInfo& plain, const std::string& cpu,
                      const std::string& host_cpu);

// "+avx2,-sse4a"
Status check_features(const llvm::MCSubtargetInfo& plain, const std::string& features);

// Whether a processor of that name with these features runs kernels at all.
Status check_runs_kernels(const llvm::MCSubtargetInfo& processor);

}  // namespace attune::cpu
