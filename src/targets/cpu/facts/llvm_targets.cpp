#include "targets/cpu/facts/llvm_targets.h"

#include <mutex>

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/TargetSelect.h>

namespace attune::cpu {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace attune::cpu
