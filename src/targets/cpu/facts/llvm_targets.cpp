#include "targets/cpu/facts/llvm_targets.h"

#include <mutex>

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/TargetSelect.h>

namespace attune::cpu {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
  });
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace attune::cpu
