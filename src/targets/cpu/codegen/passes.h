// The optimisation pipeline and the run of LLVM's code generator.
#pragma once

#include <map>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace attune::cpu {

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

enum class MachineOutput { Object, Assembly };
using SpillCounts = std::map<std::string, int>;  // by function name

// Writes machine code, changing the module, and returns, for every function, how many instructions
// of its innermost loops move a vector register to or from the stack.
SpillCounts generate(llvm::Module& module, llvm::TargetMachine& machine, int vector_registers,
                     MachineOutput kind, llvm::SmallVectorImpl<char>& out);

}  // namespace attune::cpu
