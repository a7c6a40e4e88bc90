// LLVM's view of a target: the target machine that generates code for it, and the few CPU features
// that decide which instructions may be written down without ending in a library call.
#pragma once

#include <memory>

#include <llvm/Target/TargetMachine.h>
#include "base/result.h"
#include "compiler/target/target.h"

namespace attune::cpu {

struct CpuFeatures {
  bool fma = false;          // fused multiply-add
  bool half_cast = false;    // f16 <-> f32 conversions
  bool round = false;        // floor, ceil, trunc, roundeven
  bool scale = false;        // x * 2^n on vectors of f32
  bool nan_min_max = false;  // the lesser and greater of two, NaN where either is
};

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const target::Target& target);
CpuFeatures features_of(const llvm::TargetMachine& machine);

}  // namespace attune::cpu
