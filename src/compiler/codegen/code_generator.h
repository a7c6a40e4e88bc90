// A code generator, as a target's folder src/targets/NAME/codegen offers it: the passes by which
// programs are lowered for it, and the way from lowered kernels to code that its device loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace attune::codegen {

struct KernelEntry {
  std::string symbol = {};
  std::int64_t workspace_bytes = 0;  // of scratch memory that a call needs
  // Instructions of innermost loops that move a vector register to or from the stack.
  int vector_spills = 0;
};

// The code of one kernel, not linked yet. What the bytes mean only the generator knows.
struct KernelObject {
  KernelEntry entry = {};
  std::vector<char> bytes = {};
  double compile_ms = 0;
};

// Kernels as the target's device loads them.
struct Module {
  std::vector<KernelEntry> kernels = {};  // in the order given
  std::vector<std::byte> code = {};
};

// A text that a kernel becomes on the way: "llvm", "asm".
struct TextForm {
  std::string_view name;
  std::string_view meaning;  // for a person
  Result<std::string> (*text)(const ir::Kernel& kernel, const target::Target& target);
};

// Its functions may be called from several threads at once; targets must be resolved.
struct CodeGenerator {
  std::string_view kind;  // of targets
  lower::Pipeline (*pipeline)();
  // The kernel must have gone through the pipeline.
  Result<KernelObject> (*compile)(const ir::Kernel& kernel, const target::Target& target);
  // Names of kernels that are linked together must differ.
  Result<std::vector<std::byte>> (*link)(std::span<const KernelObject> objects);
  std::span<const TextForm> texts;
  std::string_view compiler;  // that stands behind it: "LLVM"
  std::string (*version)();   // of that: "19.1.7"; "none" where it is not here
  // The library by which it is opened when it is needed, as `attune doctor` names it; empty: it is
  // part of the program.
  std::string_view library = {};
};

}  // namespace attune::codegen
