// Statements and the kernel's own function.
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/buffer_order.h"
#include "runtime/execution/kernel_abi.h"
#include "targets/cpu/codegen/emitter.h"
#include "targets/cpu/facts/facts.h"

namespace attune::cpu {

Emitter::Emitter(llvm::Module& module, const target::Target& target, CpuFeatures features)
    : context_(module.getContext()),
      module_(module),
      target_(target),
      features_(features),
      b_(context_) {}

void Emitter::emit(const ir::Stmt& s) {
  memo_.clear();
  std::visit(Match{
                 [&](const ir::For& x) { emit_loop(x); },
                 [&](const ir::Store& x) { emit_store(x); },
                 [&](const ir::Block& x) {
                   for (const ir::Stmt& child : x.stmts) emit(child);
                 },
                 [&](const ir::If& x) { emit_if(x); },
                 [&](const ir::Allocate& x) {
                   bind_allocation(*x.buffer);
                   emit(x.body);
                 },
                 [&](const ir::LetStmt& x) { emit_let(x); },
                 [&](const ir::Evaluate& x) { emit(x.value); },
                 [&](const ir::Barrier&) { CHECK(false, "a CPU kernel has no barriers"); },
             },
             s->kind);
  memo_.clear();
}

void Emitter::emit_if(const ir::If& s) {
  llvm::Value* condition = emit(s.condition);
  auto* then_block = llvm::BasicBlock::Create(context_, "then", frame_.function);
  auto* else_block =
      s.else_body ? llvm::BasicBlock::Create(context_, "else", frame_.function) : nullptr;
  auto* join = llvm::BasicBlock::Create(context_, "endif", frame_.function);
  b_.CreateCondBr(condition, then_block, else_block ? else_block : join);
  const auto side = [&](llvm::BasicBlock* block, const ir::Stmt& body) {
    const auto laundered = load_bases();
    const std::size_t sums = sums_.size();
    b_.SetInsertPoint(block);
    emit(body);
    sums_.resize(sums);
    loads_.clear();
    b_.CreateBr(join);
    restore_load_bases(laundered);
  };
  side(then_block, s.then_body);
  if (else_block) side(else_block, s.else_body);
  b_.SetInsertPoint(join);
}

void Emitter::emit_let(const ir::LetStmt& s) {
  const bool index = s.value.type() == ir::kIndex;
  const bool before = std::exchange(in_index_, index);
  llvm::Value* value = emit(s.value);
  in_index_ = before;
  VarFacts facts;
  facts.depth = ++depth_;
  if (index) {
    facts.range = range_of(s.value, facts_);
    facts.divisor = divisor_of(s.value, facts_);
  }
  with_var(s.var, value, facts, [&] { emit(s.body); });
  --depth_;
}

void Emitter::with_var(const std::string& name, llvm::Value* value, const VarFacts& facts,
                       llvm::function_ref<void()> body) {
  const auto outer = frame_.vars.find(name);
  llvm::Value* hidden = outer == frame_.vars.end() ? nullptr : outer->second;
  const auto known = facts_.find(name);
  const auto hidden_facts = known == facts_.end() ? std::nullopt : std::optional(known->second);
  frame_.vars[name] = value;
  facts_[name] = facts;
  // Sums of a hidden variable must not be found under its new meaning.
  std::vector<KnownSum> outer_sums = sums_;
  if (hidden) sums_.clear();
  body();
  sums_ = std::move(outer_sums);
  if (hidden) {
    frame_.vars[name] = hidden;
  } else {
    frame_.vars.erase(name);
  }
  if (hidden_facts) {
    facts_[name] = *hidden_facts;
  } else {
    facts_.erase(name);
  }
}

codegen::BufferMap<llvm::Value*> Emitter::load_bases() const {
  codegen::BufferMap<llvm::Value*> bases;
  for (const auto& [buffer, binding] : frame_.buffers) bases[buffer] = binding.load_base;
  return bases;
}

void Emitter::restore_load_bases(const codegen::BufferMap<llvm::Value*>& bases) {
  for (auto& [buffer, binding] : frame_.buffers) {
    const auto found = bases.find(buffer);
    binding.load_base = found == bases.end() ? binding.base : found->second;
  }
}

void Emitter::counted_loop(const std::string& name, llvm::Value* first, llvm::Value* extent,
                           bool never_empty, llvm::function_ref<void(llvm::Value*)> body) {
  auto* header = llvm::BasicBlock::Create(context_, name, frame_.function);
  auto* exit = llvm::BasicBlock::Create(context_, name + ".end", frame_.function);
  llvm::Value* end = b_.CreateAdd(first, extent, "", false, true);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  if (never_empty) {
    b_.CreateBr(header);
  } else {
    b_.CreateCondBr(b_.CreateICmpSGT(extent, b_.getInt64(0)), header, exit);
  }
  b_.SetInsertPoint(header);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, name);
  i->addIncoming(first, before);
  const auto laundered = load_bases();
  const std::size_t sums = sums_.size();
  loads_.clear();
  body(i);
  loads_.clear();
  sums_.resize(sums);
  restore_load_bases(laundered);
  llvm::Value* next = b_.CreateAdd(i, b_.getInt64(1), "", false, true);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), header, exit);
  b_.SetInsertPoint(exit);
}

void Emitter::emit_loop(const ir::For& loop) {
  if (loop.kind == ir::LoopKind::Parallel && frame_.context != nullptr) {
    emit_parallel(loop);
    return;
  }
  const std::int64_t* extent = ir::as_int(loop.extent);
  if (extent && *extent <= 0) return;
  const bool before = std::exchange(in_index_, true);
  llvm::Value* first = emit(loop.min);
  llvm::Value* count = emit(loop.extent);
  in_index_ = before;
  if (extent && *extent == 1) {
    emit_loop_body(loop, first);
    return;
  }
  const auto count_range = range_of(loop.extent, facts_);
  counted_loop(loop.var, first, count, count_range && count_range->min > 0,
               [&](llvm::Value* i) { emit_loop_body(loop, i); });
}

void Emitter::emit_loop_body(const ir::For& loop, llvm::Value* value) {
  VarFacts facts;
  facts.depth = ++depth_;
  const auto first = range_of(loop.min, facts_), count = range_of(loop.extent, facts_);
  if (first && count) {
    facts.range = Interval{first->min, first->max + std::max<std::int64_t>(count->max, 1) - 1};
  }
  if (is_const_int(loop.extent, 1)) facts.divisor = divisor_of(loop.min, facts_);
  with_var(loop.var, value, facts, [&] { emit(loop.body); });
  --depth_;
}

// Attributes that hold for every function, then the entry block.
void Emitter::open_function(llvm::Function* function) {
  function->addFnAttr("target-cpu", target_.attribute(kCpu));
  const std::string_view features = target_.attribute(kFeatures);
  if (!features.empty()) function->addFnAttr("target-features", features);
  const std::string width = std::to_string(target_.vector_bytes * 8);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  // No loop becomes a call of memset or memcpy: there is no library to call.
  function->addFnAttr("no-builtins");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  auto* entry = llvm::BasicBlock::Create(context_, "entry", function);
  b_.SetInsertPoint(entry);
  frame_ = Frame{};
  frame_.function = function;
  sums_.clear();
  loads_.clear();
  // A placeholder that allocas precede; removed when the function is complete.
  frame_.alloca_point = b_.CreateAlloca(b_.getInt8Ty(), nullptr, "allocas");
}

void Emitter::emit_kernel(const ir::Kernel& kernel, const StoragePlan& plan) {
  kernel_ = &kernel;
  plan_ = &plan;
  task_count_ = 0;
  make_alias_tags();
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer}, false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel.name, module_);
  open_function(function);
  frame_.context = function->getArg(0);
  const auto load_invariant = [&](llvm::Value* from, std::uint64_t bytes) {
    llvm::Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), from, bytes);
    auto* load = b_.CreateLoad(pointer, at);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  };
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    llvm::Value* base = load_invariant(function->getArg(1), i * 8);
    base->setName(kernel.params[i]->name);
    frame_.buffers[kernel.params[i].get()] = {.base = base, .load_base = base, .slots = {}};
  }
  if (plan.workspace_bytes > 0) {
    frame_.workspace = load_invariant(frame_.context, offsetof(AttuneKernelContext, workspace));
  }
  emit(kernel.body);
  b_.CreateRet(b_.getInt32(0));
  frame_.alloca_point->eraseFromParent();
}

}  // namespace attune::cpu
