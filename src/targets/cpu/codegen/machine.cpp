#include "targets/cpu/codegen/machine.h"

#include <fmt/format.h>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include "targets/cpu/facts/facts.h"
#include "targets/cpu/facts/llvm_targets.h"

namespace attune::cpu {

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const target::Target& target) {
  initialize_llvm();
  const std::string triple(target.attribute(kTriple));
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, why);
  if (known == nullptr) {
    return unsupported(fmt::format("no code generator for the triple '{}'", triple),
                       "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(known->createTargetMachine(
      triple, target.attribute(kCpu), target.attribute(kFeatures), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  CHECK(machine != nullptr, "LLVM refused the target " + triple);
  return machine;
}

CpuFeatures features_of(const llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  if (triple.isAArch64()) {
    return {.fma = true, .half_cast = true, .round = true, .nan_min_max = true};
  }
  if (!triple.isX86()) return {};
  const llvm::MCSubtargetInfo& cpu = *machine.getMCSubtargetInfo();
  return {.fma = cpu.checkFeatures("+fma"),
          .half_cast = cpu.checkFeatures("+f16c"),
          .round = cpu.checkFeatures("+sse4.1"),
          .scale = cpu.checkFeatures("+avx512f,+avx512vl")};
}

}  // namespace attune::cpu
