// From lowered kernels to machine code: an ELF shared object in memory that exports one function
// per kernel (runtime/kernel_abi.h), compiled and linked in process. Every function here may be
// called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/stmt.h"
#include "compiler/ir/target.h"

namespace attune::codegen {

// Fills what the user left out (triple, CPU name, features, threads: those of this machine) and the
// facts that schedules depend on. Cache sizes are this machine's when the target is this machine's
// CPU, and keep their defaults otherwise. An unknown CPU name is an error.
Result<ir::Target> resolve_target(const ir::Target& target);

// "19.1.7"
std::string llvm_version();

struct CompiledKernel {
  std::string symbol;
  std::vector<std::byte> elf;
  std::int64_t workspace_bytes = 0;  // what AttuneKernelContext::workspace must hold
  double compile_ms = 0;             // IR, optimisation, machine code
  double link_ms = 0;
  // Instructions of innermost loops that move a vector register to or from the stack.
  int vector_spills = 0;
};

struct KernelEntry {
  std::string symbol;
  std::int64_t workspace_bytes = 0;
  int vector_spills = 0;
};

// The machine code of one kernel, not linked yet.
struct KernelObject {
  KernelEntry entry;
  std::vector<char> bytes;
  double compile_ms = 0;
};

// Several kernels in one shared object.
struct CompiledModule {
  std::vector<KernelEntry> kernels;  // in the order given
  std::vector<std::byte> elf;
  double compile_ms = 0;
  double link_ms = 0;
};

// Kernels must be lowered: one-dimensional buffers, no vectorized, unrolled or bound loops. The
// target must be resolved.
Result<CompiledKernel> compile(const ir::Kernel& kernel, const ir::Target& target);
Result<CompiledModule> compile(std::span<const ir::Kernel> kernels, const ir::Target& target);

// The two steps of compile apart, so that the kernels of a model compile in parallel. Names of
// kernels that are linked together must differ.
Result<KernelObject> compile_object(const ir::Kernel& kernel, const ir::Target& target);
Result<std::vector<std::byte>> link(std::span<const KernelObject> objects);

// The optimised LLVM IR and the assembly of a kernel, as text.
Result<std::string> emit_llvm(const ir::Kernel& kernel, const ir::Target& target);
Result<std::string> emit_asm(const ir::Kernel& kernel, const ir::Target& target);

}  // namespace attune::codegen
