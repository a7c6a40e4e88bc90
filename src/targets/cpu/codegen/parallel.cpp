// Parallel loops. The body becomes a function of its own that the runtime's parallel_for calls with
// ranges of iterations; what it uses from outside travels in a closure on the caller's stack.
#include <cstddef>
#include <set>

#include "compiler/codegen/buffer_order.h"
#include "compiler/codegen/walk.h"
#include "runtime/execution/kernel_abi.h"
#include "targets/cpu/codegen/emitter.h"

namespace attune::cpu {

using codegen::walk;

namespace {

// Everything a loop body mentions.
struct Mentions {
  std::set<std::string> vars;
  codegen::BufferSet buffers;
};

Mentions mentions_of(const ir::For& loop) {
  Mentions found;
  const auto expression = [&](const ir::Expr& e) {
    if (const auto* v = ir::as<ir::Var>(e)) found.vars.insert(v->name);
    if (const auto* l = ir::as<ir::Load>(e)) found.buffers.insert(l->buffer.get());
  };
  const auto statement = [&](const ir::Stmt& s) {
    if (const auto* st = ir::as<ir::Store>(s)) found.buffers.insert(st->buffer.get());
  };
  walk(loop.body, statement, expression);
  return found;
}

}  // namespace

void Emitter::emit_parallel(const ir::For& loop) {
  const Mentions mentions = mentions_of(loop);
  Captures captures;
  for (const auto& [name, value] : frame_.vars) {
    if (mentions.vars.contains(name)) captures.vars.push_back(name);
  }
  for (const ir::Buffer& buffer : plan_->in_memory) {
    const auto found = frame_.buffers.find(buffer.get());
    const bool bound = found != frame_.buffers.end() && found->second.base != nullptr;
    if (bound && mentions.buffers.contains(buffer.get())) captures.buffers.push_back(buffer.get());
  }
  captures.sliced = uses_worker_slices(loop, *plan_);

  // Closure: first iteration, extent, workspace, variables, buffer pointers.
  std::vector<llvm::Value*> fields{emit(loop.min), emit(loop.extent)};
  fields.push_back(frame_.workspace ? frame_.workspace
                                    : llvm::ConstantPointerNull::get(b_.getPtrTy()));
  for (const std::string& name : captures.vars) fields.push_back(frame_.vars.find(name)->second);
  for (const auto* buffer : captures.buffers) fields.push_back(frame_.buffers[buffer].base);
  std::vector<llvm::Type*> types;
  for (llvm::Value* field : fields) types.push_back(field->getType());
  captures.closure = llvm::StructType::get(context_, types);

  llvm::IRBuilder<> at_entry(frame_.alloca_point);
  llvm::Value* closure = at_entry.CreateAlloca(captures.closure, nullptr, "closure");
  for (unsigned i = 0; i < fields.size(); ++i) {
    b_.CreateStore(fields[i], b_.CreateStructGEP(captures.closure, closure, i));
  }
  llvm::Function* task = emit_task(loop, captures);
  call_parallel_for(fields[1], captures.sliced, task, closure);
}

void Emitter::call_parallel_for(llvm::Value* extent, bool sliced, llvm::Function* task,
                                llvm::Value* closure) {
  llvm::Type* pointer = b_.getPtrTy();
  const auto field = [&](std::size_t offset) {
    return b_.CreateLoad(pointer, b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.context, offset));
  };
  llvm::Value* pool = field(offsetof(AttuneKernelContext, pool));
  llvm::Value* function = field(offsetof(AttuneKernelContext, parallel_for));
  // With slices, one iteration of the runtime's loop is one slice's share of the loop here: never
  // more of them at once than there are slices, however many workers the pool has.
  llvm::Value* count = sliced ? b_.CreateSelect(b_.CreateICmpSGT(extent, b_.getInt64(0)),
                                                b_.getInt64(target_.threads), b_.getInt64(0))
                              : extent;
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, b_.getInt64Ty(), pointer, pointer}, false);
  b_.CreateCall(type, function, {pool, count, task, closure});
}

llvm::Function* Emitter::emit_task(const ir::For& loop, const Captures& captures) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, i64, i64, b_.getInt32Ty()}, false);
  auto* task =
      llvm::Function::Create(type, llvm::Function::InternalLinkage,
                             kernel_->name + ".task" + std::to_string(task_count_++), module_);
  Frame caller = std::move(frame_);
  std::vector<KnownSum> caller_sums = std::move(sums_);
  const auto resume = b_.saveIP();
  open_function(task);
  unsigned next = 0;
  const auto unpack = [&] {
    llvm::Value* at = b_.CreateStructGEP(captures.closure, task->getArg(0), next);
    auto* load = b_.CreateLoad(captures.closure->getElementType(next++), at);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  };
  llvm::Value* first = unpack();
  llvm::Value* extent = unpack();
  frame_.workspace = unpack();
  for (const std::string& name : captures.vars) frame_.vars[name] = unpack();
  for (const auto* buffer : captures.buffers) {
    llvm::Value* base = unpack();
    base->setName(buffer->name);
    frame_.buffers[buffer] = {.base = base, .load_base = base, .slots = {}};
  }
  llvm::Value* begin = task->getArg(1);
  llvm::Value* end = task->getArg(2);
  const auto run = [&](llvm::Value* from, llvm::Value* to, bool never_empty) {
    llvm::Value* start = b_.CreateAdd(first, from, "", false, true);
    counted_loop(loop.var, start, b_.CreateSub(to, from), never_empty,
                 [&](llvm::Value* i) { emit_loop_body(loop, i); });
  };
  if (captures.sliced) {
    counted_loop("slice", begin, b_.CreateSub(end, begin), true, [&](llvm::Value* slice) {
      frame_.worker = slice;
      llvm::Value* threads = b_.getInt64(target_.threads);
      llvm::Value* after = b_.CreateAdd(slice, b_.getInt64(1));
      run(b_.CreateUDiv(b_.CreateMul(slice, extent), threads),
          b_.CreateUDiv(b_.CreateMul(after, extent), threads), false);
    });
  } else {
    run(begin, end, true);
  }
  b_.CreateRetVoid();
  frame_.alloca_point->eraseFromParent();
  frame_ = std::move(caller);
  sums_ = std::move(caller_sums);
  loads_.clear();
  b_.restoreIP(resume);
  return task;
}

}  // namespace attune::cpu
