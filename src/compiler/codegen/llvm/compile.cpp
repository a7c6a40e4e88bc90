// The public entry points: check that kernels are lowered, write LLVM IR, optimise, generate, link.
#include <fmt/format.h>

#include <chrono>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include "base/match.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/link.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/passes.h"
#include "compiler/codegen/llvm/walk.h"

namespace attune::codegen {
namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// What is wrong with a statement that should have been lowered; empty when nothing is.
std::string complaint(const ir::Stmt& s) {
  if (const auto* loop = ir::as<ir::For>(s)) {
    switch (loop->kind) {
      case ir::LoopKind::Serial:
      case ir::LoopKind::Parallel:
        return {};
      case ir::LoopKind::Vectorized:
        return fmt::format("loop '{}' is still marked vectorized", loop->var);
      case ir::LoopKind::Unrolled:
        return fmt::format("loop '{}' is still marked unrolled", loop->var);
      case ir::LoopKind::Bound:
        return fmt::format("loop '{}' is bound to '{}', which a CPU does not have", loop->var,
                           loop->axis);
    }
  }
  if (const auto* x = ir::as<ir::Store>(s); x && x->index.size() != 1) {
    return fmt::format("a store to buffer '{}' has {} indices, must have 1", x->buffer->name,
                       x->index.size());
  }
  if (ir::as<ir::Barrier>(s)) return "a barrier, which a CPU does not have";
  return {};
}

// Beyond this a kernel takes seconds to compile and does not fit the instruction cache anyway.
constexpr int kMostStores = 20000;

Status check_lowered(const ir::Kernel& kernel) {
  std::string why;
  int stores = 0;
  walk(
      kernel.body,
      [&](const ir::Stmt& s) {
        if (why.empty()) why = complaint(s);
        stores += ir::as<ir::Store>(s) ? 1 : 0;
      },
      [&](const ir::Expr& e) {
        const auto* x = ir::as<ir::Load>(e);
        if (why.empty() && x && x->index.size() != 1) {
          why = fmt::format("a load of buffer '{}' has {} indices, must have 1", x->buffer->name,
                            x->index.size());
        }
      });
  if (stores > kMostStores) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("kernel '{}' has {} stores after unrolling, at most {} are compiled",
                             kernel.name, stores, kMostStores),
                 "unroll fewer loops"};
  }
  if (why.empty()) return {};
  return unsupported(fmt::format("kernel '{}' is not lowered for a CPU: {}", kernel.name, why));
}

Status check_resolved(const ir::Target& target) {
  if (!target.triple.empty() && !target.cpu.empty() && target.threads > 0) return {};
  return invalid(fmt::format("target '{}' is not resolved", ir::to_string(target)),
                 "pass it through resolve_target first");
}

// One compilation: context, module and machine, with the kernels written and optimised.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::vector<KernelEntry> kernels;
};

Result<std::unique_ptr<Compilation>> prepare(std::span<const ir::Kernel> kernels,
                                             const ir::Target& target) {
  ATTUNE_RETURN_IF_ERROR(check_resolved(target));
  for (const ir::Kernel& kernel : kernels) ATTUNE_RETURN_IF_ERROR(check_lowered(kernel));
  auto result = std::make_unique<Compilation>();
  ATTUNE_ASSIGN(result->machine, make_machine(target));
  result->context.setDiscardValueNames(false);
  result->module = std::make_unique<llvm::Module>("attune", result->context);
  result->module->setTargetTriple(target.triple);
  result->module->setDataLayout(result->machine->createDataLayout());
  Emitter emitter(*result->module, target, features_of(*result->machine));
  for (const ir::Kernel& kernel : kernels) {
    const StoragePlan plan = plan_storage(kernel, target.threads);
    emitter.emit_kernel(kernel, plan);
    result->kernels.push_back({kernel.name, plan.workspace_bytes, 0});
  }
#ifndef NDEBUG
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  const bool invalid_ir = llvm::verifyModule(*result->module, &stream);
  CHECK(!invalid_ir, "the code generator wrote invalid LLVM IR: " + stream.str());
#endif
  optimize(*result->module, *result->machine);
  return result;
}

}  // namespace

Result<KernelObject> compile_object(const ir::Kernel& kernel, const ir::Target& target) {
  const auto start = std::chrono::steady_clock::now();
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  llvm::SmallVector<char, 0> object;
  const SpillCounts spills = generate(*compilation->module, *compilation->machine,
                                      target.vector_registers, MachineOutput::Object, object);
  KernelObject result;
  result.entry = std::move(compilation->kernels[0]);
  for (const auto& [function, count] : spills) result.entry.vector_spills += count;
  result.bytes.assign(object.begin(), object.end());
  result.compile_ms = ms_since(start);
  return result;
}

Result<std::vector<std::byte>> link(std::span<const KernelObject> objects) {
  std::vector<std::span<const char>> bytes;
  for (const KernelObject& object : objects) bytes.emplace_back(object.bytes);
  return link_shared(bytes);
}

Result<CompiledModule> compile(std::span<const ir::Kernel> kernels, const ir::Target& target) {
  CompiledModule result;
  std::vector<KernelObject> objects;
  for (const ir::Kernel& kernel : kernels) {
    ATTUNE_ASSIGN(KernelObject object, compile_object(kernel, target));
    result.kernels.push_back(object.entry);
    result.compile_ms += object.compile_ms;
    objects.push_back(std::move(object));
  }
  const auto link_start = std::chrono::steady_clock::now();
  ATTUNE_ASSIGN(result.elf, link(objects));
  result.link_ms = ms_since(link_start);
  return result;
}

Result<CompiledKernel> compile(const ir::Kernel& kernel, const ir::Target& target) {
  ATTUNE_ASSIGN(auto module, compile(std::span(&kernel, 1), target));
  const KernelEntry& entry = module.kernels[0];
  return CompiledKernel{.symbol = entry.symbol,
                        .elf = std::move(module.elf),
                        .workspace_bytes = entry.workspace_bytes,
                        .compile_ms = module.compile_ms,
                        .link_ms = module.link_ms,
                        .vector_spills = entry.vector_spills};
}

Result<std::string> emit_llvm(const ir::Kernel& kernel, const ir::Target& target) {
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation->module->print(stream, nullptr);
  return stream.str();
}

Result<std::string> emit_asm(const ir::Kernel& kernel, const ir::Target& target) {
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  llvm::SmallVector<char, 0> text;
  generate(*compilation->module, *compilation->machine, target.vector_registers,
           MachineOutput::Assembly, text);
  return std::string(text.begin(), text.end());
}

}  // namespace attune::codegen
