#include "compiler/codegen/llvm/passes.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include "base/check.h"
#include "compiler/codegen/llvm/spills.h"

namespace attune::codegen {

// Register buffers become values, common subexpressions go, invariants leave their loops. Loop
// vectoriser, SLP vectoriser and unroller stay off: the schedule has decided about these.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  pipeline.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  pipeline.addPass(llvm::InstCombinePass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
  pipeline.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) pipeline.run(function, functions);
  }
}

SpillCounts generate(llvm::Module& module, llvm::TargetMachine& machine, MachineOutput kind,
                     llvm::SmallVectorImpl<char>& out) {
  SpillCounts spills;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  // The steps of TargetMachine::addPassesToEmitFile, with the spill counter before the printer.
  auto& target = static_cast<llvm::LLVMTargetMachine&>(machine);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  const bool failed = config->addISelPasses();
  CHECK(!failed, "LLVM cannot select instructions for this target");
  config->addMachinePasses();
  config->setInitialized();
  passes.add(make_spill_counter(spills));
  const auto type = kind == MachineOutput::Object ? llvm::CodeGenFileType::ObjectFile
                                                  : llvm::CodeGenFileType::AssemblyFile;
  const bool no_printer =
      target.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext());
  CHECK(!no_printer, "LLVM cannot write this kind of output");
  passes.run(module);
  return spills;
}

}  // namespace attune::codegen
