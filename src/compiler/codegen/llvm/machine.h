// LLVM's view of a target: the target machine that generates code for it, and the few CPU features
// that decide which instructions may be written down without ending in a library call.
#pragma once

#include <memory>

#include <llvm/Target/TargetMachine.h>
#include "base/result.h"
#include "compiler/ir/target.h"

namespace attune::codegen {

struct CpuFeatures {
  bool fma = false;        // fused multiply-add
  bool half_cast = false;  // f16 <-> f32 conversions
  bool round = false;      // floor, ceil, trunc, roundeven
};

// Makes LLVM's targets known; cheap after the first call.
void initialize_llvm();

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const ir::Target& target);
CpuFeatures features_of(const llvm::TargetMachine& machine);

}  // namespace attune::codegen
