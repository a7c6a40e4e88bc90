// The public entry points: check that kernels are lowered, write LLVM IR, optimise, generate, link.
#include <fmt/format.h>

#include <array>
#include <chrono>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include "base/match.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/codegen/emitter.h"
#include "targets/cpu/codegen/link.h"
#include "targets/cpu/codegen/machine.h"
#include "targets/cpu/codegen/passes.h"
#include "targets/cpu/facts/facts.h"
#include "targets/cpu/facts/llvm_targets.h"

namespace attune::cpu {

using codegen::walk;

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
  const auto* effect = ir::as<ir::Evaluate>(s);
  const auto* call = effect ? ir::as<ir::Opaque>(effect->value) : nullptr;
  if (call && ir::find_tensor_intrinsic(call->name)) {
    return fmt::format("intrinsic '{}', which a CPU does not have", call->name);
  }
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
  return unsupported(fmt::format("kernel '{}' is not lowered for a CPU: {}", kernel.name, why),
                     "schedules for other kinds of targets do not fit");
}

Status check_resolved(const target::Target& target) {
  const bool named = !target.attribute(kTriple).empty() && !target.attribute(kCpu).empty();
  if (named && target.threads > 0) return {};
  return invalid(fmt::format("target '{}' is not resolved", target::to_string(target)),
                 "pass it through targets::resolve first");
}

// One compilation: context, module and machine, with the kernels written and optimised.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::vector<codegen::KernelEntry> kernels;
};

Result<std::unique_ptr<Compilation>> prepare(std::span<const ir::Kernel> kernels,
                                             const target::Target& target) {
  ATTUNE_RETURN_IF_ERROR(check_resolved(target));
  for (const ir::Kernel& kernel : kernels) ATTUNE_RETURN_IF_ERROR(check_lowered(kernel));
  auto result = std::make_unique<Compilation>();
  ATTUNE_ASSIGN(result->machine, make_machine(target));
  result->context.setDiscardValueNames(false);
  result->module = std::make_unique<llvm::Module>("attune", result->context);
  result->module->setTargetTriple(target.attribute(kTriple));
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

Result<codegen::KernelObject> compile_object(const ir::Kernel& kernel,
                                             const target::Target& target) {
  const auto start = std::chrono::steady_clock::now();
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  llvm::SmallVector<char, 0> object;
  const SpillCounts spills = generate(*compilation->module, *compilation->machine,
                                      target.vector_registers, MachineOutput::Object, object);
  codegen::KernelObject result;
  result.entry = std::move(compilation->kernels[0]);
  for (const auto& [function, count] : spills) result.entry.vector_spills += count;
  result.bytes.assign(object.begin(), object.end());
  result.compile_ms = ms_since(start);
  return result;
}

Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects) {
  std::vector<std::span<const char>> bytes;
  for (const codegen::KernelObject& object : objects) bytes.emplace_back(object.bytes);
  return link_shared(bytes);
}

Result<std::string> emit_llvm(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation->module->print(stream, nullptr);
  return stream.str();
}

Result<std::string> emit_asm(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_ASSIGN(auto compilation, prepare(std::span(&kernel, 1), target));
  llvm::SmallVector<char, 0> text;
  generate(*compilation->module, *compilation->machine, target.vector_registers,
           MachineOutput::Assembly, text);
  return std::string(text.begin(), text.end());
}

namespace {
constexpr std::array<codegen::TextForm, 2> kTexts = {
    {{"llvm", "LLVM's code, when its passes have run", emit_llvm},
     {"asm", "the machine's instructions", emit_asm}}};
}  // namespace

const codegen::CodeGenerator code_generator = {
    .kind = "cpu",
    .pipeline = lower::vector_pipeline,
    .compile = compile_object,
    .link = link,
    .texts = kTexts,
    .compiler = "LLVM",
    .version = llvm_version,
};

}  // namespace attune::cpu
