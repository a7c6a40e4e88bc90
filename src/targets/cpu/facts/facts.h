// CPUs as targets, of any architecture that LLVM generates code for: `cpu` alone is this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/target/kind.h"
#include "compiler/target/target.h"

namespace attune::cpu {

// Attributes, by the names that LLVM's tools use.
inline constexpr std::string_view kTriple = "triple";   // "x86_64-pc-linux-gnu"
inline constexpr std::string_view kCpu = "mcpu";        // an LLVM CPU name
inline constexpr std::string_view kFeatures = "mattr";  // "+avx2,-sse4a": what the CPU name lacks

extern const target::Kind target_kind;

// Fills triple, CPU name, features and threads with those of this machine, and the facts. Cache
// sizes are this machine's when the target is this machine's CPU, those of the CPU name where they
// are known, and keep their defaults otherwise. Cores with scalable vectors (SVE) are used with
// their vectors of 16 bytes. What LLVM does not know, or kernels cannot be made for, is an error.
Result<target::Target> resolve(const target::Target& target);

// The features that a machine must have to run code for the target, of those that the runtime
// checks before it loads an artifact (targets/cpu/device/cpu_features.h).
std::vector<std::string> required_features(const target::Target& resolved);

}  // namespace attune::cpu
