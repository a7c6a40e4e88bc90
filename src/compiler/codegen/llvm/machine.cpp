#include "compiler/codegen/llvm/machine.h"

#include <fmt/format.h>

#include <mutex>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

namespace attune::codegen {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const ir::Target& target) {
  initialize_llvm();
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(target.triple, why);
  if (known == nullptr) {
    return unsupported(fmt::format("no code generator for the triple '{}'", target.triple),
                       "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(known->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  CHECK(machine != nullptr, "LLVM refused the target " + target.triple);
  return machine;
}

CpuFeatures features_of(const llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  if (triple.isAArch64()) return {.fma = true, .half_cast = true, .round = true};
  if (!triple.isX86()) return {};
  const llvm::MCSubtargetInfo& cpu = *machine.getMCSubtargetInfo();
  return {.fma = cpu.checkFeatures("+fma"),
          .half_cast = cpu.checkFeatures("+f16c"),
          .round = cpu.checkFeatures("+sse4.1")};
}

}  // namespace attune::codegen
