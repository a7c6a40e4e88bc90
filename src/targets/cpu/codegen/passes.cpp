#include "targets/cpu/codegen/passes.h"

#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include "base/check.h"
#include "targets/cpu/codegen/spills.h"

namespace attune::cpu {

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

namespace {

// The steps up to machine instructions. For x86 only those of TargetPassConfig::addISelPasses that
// kernels need. Loop strength reduction is not among them: in unrolled loop bodies it takes most of
// the compile time and gains nothing, since addresses are a shared sum and a constant already.
bool add_selection_passes(llvm::TargetMachine& machine, llvm::TargetPassConfig& config,
                          llvm::legacy::PassManager& passes) {
  if (!machine.getTargetTriple().isX86()) return !config.addISelPasses();
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(llvm::createScopedNoAliasAAWrapperPass());
  passes.add(llvm::createBasicAAWrapperPass());
  passes.add(llvm::createUnreachableBlockEliminationPass());
  passes.add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
  passes.add(llvm::createExpandReductionsPass());
  config.addCodeGenPrepare();
  config.addPassesToHandleExceptions();
  config.addISelPrepare();
  const bool selects = !config.addInstSelector();
  passes.add(llvm::Pass::createPass(&llvm::FinalizeISelID));
  return selects;
}

// One run of LLVM's code generator over the module, which it changes.
SpillCounts run_code_generator(llvm::Module& module, llvm::TargetMachine& machine,
                               MachineOutput kind, bool reorder, llvm::SmallVectorImpl<char>& out) {
  SpillCounts spills;
  out.clear();
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  // The steps of TargetMachine::addPassesToEmitFile, with the spill counter before the printer.
  auto& target = static_cast<llvm::LLVMTargetMachine&>(machine);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  if (machine.getTargetTriple().isX86()) {
    // Out-of-order processors gain nothing from a second scheduling after register allocation.
    config->disablePass(&llvm::PostRASchedulerID);
    if (!reorder) config->disablePass(&llvm::MachineSchedulerID);
  }
  passes.add(config);
  passes.add(info);
  const bool selects = add_selection_passes(machine, *config, passes);
  CHECK(selects, "LLVM cannot select instructions for this target");
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

int total(const SpillCounts& spills) {
  int sum = 0;
  for (const auto& [function, count] : spills) sum += count;
  return sum;
}

}  // namespace

// LLVM's machine scheduler saves registers in some kernels and wastes them in others, above all
// where there are 32 of them and long unrolled bodies: there the order of the schedule is the
// better first guess. When vectors are spilled, the other order gets a try and the better one wins.
SpillCounts generate(llvm::Module& module, llvm::TargetMachine& machine, int vector_registers,
                     MachineOutput kind, llvm::SmallVectorImpl<char>& out) {
  const bool has_choice = machine.getTargetTriple().isX86();
  const bool reorder = vector_registers < 32;
  const std::unique_ptr<llvm::Module> copy = has_choice ? llvm::CloneModule(module) : nullptr;
  SpillCounts first = run_code_generator(module, machine, kind, reorder, out);
  if (!has_choice || total(first) == 0) return first;
  llvm::SmallVector<char, 0> other;
  SpillCounts second = run_code_generator(*copy, machine, kind, !reorder, other);
  if (total(second) >= total(first)) return first;
  out.assign(other.begin(), other.end());
  return second;
}

}  // namespace attune::cpu
