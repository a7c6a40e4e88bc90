#include "targets/cpu/codegen/spills.h"

#include <llvm/CodeGen/MachineDominators.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/PseudoSourceValue.h>

namespace attune::cpu {
namespace {

constexpr std::uint64_t kSmallestVectorBytes = 16;

// A load or store of a vector in a spill slot, whether on its own or folded into arithmetic.
bool moves_spilled_vector(const llvm::MachineInstr& instruction,
                          const llvm::MachineFrameInfo& frame) {
  for (const llvm::MachineMemOperand* access : instruction.memoperands()) {
    const auto* slot =
        llvm::dyn_cast_or_null<llvm::FixedStackPseudoSourceValue>(access->getPseudoValue());
    if (slot && frame.isSpillSlotObjectIndex(slot->getFrameIndex()) &&
        access->getSize().hasValue() &&
        access->getSize().getValue().getKnownMinValue() >= kSmallestVectorBytes) {
      return true;
    }
  }
  return false;
}

class SpillCounter : public llvm::MachineFunctionPass {
 public:
  explicit SpillCounter(std::map<std::string, int>& counts)
      : MachineFunctionPass(id), counts_(counts) {}

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    int& count = counts_[function.getName().str()];
    const llvm::MachineFrameInfo& frame = function.getFrameInfo();
    if (frame.getObjectIndexEnd() == frame.getObjectIndexBegin()) return false;
    llvm::MachineDominatorTree dominators(function);
    llvm::MachineLoopInfo loops(dominators);
    for (const llvm::MachineBasicBlock& block : function) {
      const llvm::MachineLoop* loop = loops.getLoopFor(&block);
      if (loop == nullptr || !loop->isInnermost()) continue;
      for (const llvm::MachineInstr& instruction : block) {
        if (moves_spilled_vector(instruction, frame)) ++count;
      }
    }
    return false;
  }

  llvm::StringRef getPassName() const override { return "Attune spill counter"; }

 private:
  static inline char id = 0;
  std::map<std::string, int>& counts_;
};

}  // namespace

llvm::FunctionPass* make_spill_counter(std::map<std::string, int>& counts) {
  return new SpillCounter(counts);
}

}  // namespace attune::cpu
