// From lowered kernels to machine code: an ELF shared object in memory that exports one function
// per kernel (runtime/execution/kernel_abi.h), compiled by LLVM and linked by lld in process. Every
// function here may be called from several threads at once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/code_generator.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/target/target.h"

namespace attune::cpu {

extern const codegen::CodeGenerator code_generator;

// Kernels must be lowered: one-dimensional buffers, no vectorized, unrolled or bound loops. The
// target must be resolved.
Result<codegen::KernelObject> compile_object(const ir::Kernel& kernel,
                                             const target::Target& target);
Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects);

// The optimised LLVM IR and the assembly of a kernel, as text.
Result<std::string> emit_llvm(const ir::Kernel& kernel, const target::Target& target);
Result<std::string> emit_asm(const ir::Kernel& kernel, const target::Target& target);

}  // namespace attune::cpu
