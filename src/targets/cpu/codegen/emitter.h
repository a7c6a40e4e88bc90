// Writes kernels as LLVM IR. One Emitter serves one module. The member functions are spread over
// several sources by concern: values (types, constants, casts), arithmetic, memory, statements,
// parallel loops; mathematical functions are in math.h.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include "compiler/codegen/buffer_order.h"
#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/storage.h"
#include "targets/cpu/codegen/machine.h"

namespace attune::cpu {

using codegen::as_strided, codegen::constant_place, codegen::divisor_of, codegen::linearize;
using codegen::Facts, codegen::Interval, codegen::LinearIndex, codegen::LinearTerm;
using codegen::plan_storage, codegen::range_of, codegen::safe_to_speculate;
using codegen::StoragePlan, codegen::Strided, codegen::VarFacts, codegen::WorkspaceRange;
using codegen::uses_worker_slices;

// Types that exist in memory only; their values are held as f32.
constexpr bool is_small_float(ir::DType type) { return type.is_float() && type.bits == 16; }

// How a buffer is reached inside one function.
struct BufferBinding {
  llvm::Value* base = nullptr;       // where stores go
  llvm::Value* load_base = nullptr;  // where loads come from: the base, or a laundered copy of it
  llvm::Value* cleared = nullptr;    // memory on the stack that begins as zeros
  // Register buffers held as values: one stack slot per (first element, lanes), which LLVM turns
  // into values.
  std::map<std::pair<std::int64_t, int>, llvm::Value*> slots;
};
using Bindings = codegen::BufferMap<BufferBinding>;

// The alias metadata of one buffer's accesses: buffers never overlap.
struct AliasTags {
  llvm::MDNode* scope = nullptr;
  llvm::MDNode* others = nullptr;
};

// The function being written: the kernel itself or the body of one of its parallel loops.
struct Frame {
  llvm::Function* function = nullptr;
  llvm::Instruction* alloca_point = nullptr;  // allocas go before it
  llvm::Value* context = nullptr;             // AttuneKernelContext*, null inside a parallel body
  llvm::Value* workspace = nullptr;
  llvm::Value* worker = nullptr;  // i64
  std::map<std::string, llvm::Value*, std::less<>> vars;
  Bindings buffers;
};

// What the body of a parallel loop takes from outside.
struct Captures {
  std::vector<std::string> vars;
  std::vector<const ir::BufferNode*> buffers;
  llvm::StructType* closure = nullptr;
  bool sliced = false;  // its workers need numbers below the target's thread count
};

// The sum of an index's terms, already computed where it is still valid.
struct KnownSum {
  std::vector<LinearTerm> terms;
  llvm::Value* value;
};

// A load from the same address and of the same lanes, in code that runs before this point.
struct LoadKey {
  const ir::BufferNode* buffer;
  llvm::Value* base;
  llvm::Value* sum;
  std::int64_t constant;
  int lanes;
  friend auto operator<=>(const LoadKey&, const LoadKey&) = default;
};

class Emitter {
 public:
  Emitter(llvm::Module& module, const target::Target& target, CpuFeatures features);

  void emit_kernel(const ir::Kernel& kernel, const StoragePlan& plan);

 private:
  // values.cpp
  llvm::Type* element_type(ir::DType type) const;  // of one element held in a register
  llvm::Type* value_type(ir::DType type) const;
  llvm::Type* memory_type(ir::DType type) const;  // bools take a byte, f16 and bf16 two
  llvm::Value* constant(double value, ir::DType type) const;
  llvm::Value* constant_int(std::int64_t value, ir::DType type) const;
  llvm::Value* index_value(std::int64_t value) { return b_.getInt64(value); }
  llvm::Value* cast_value(llvm::Value* value, ir::DType from, ir::DType to);
  llvm::Value* widen(llvm::Value* value, ir::DType from);  // bits of f16, bf16 -> f32
  llvm::Value* narrow(llvm::Value* value, ir::DType to);   // f32 -> bits of f16, bf16
  llvm::Value* to_memory(llvm::Value* value, ir::DType type);
  llvm::Value* from_memory(llvm::Value* value, ir::DType type);
  llvm::Value* splat(llvm::Value* scalar, int lanes);

  // arithmetic.cpp
  llvm::Value* emit_binary(const ir::Binary& x);
  llvm::Value* emit_float(ir::BinOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_int(const ir::Binary& x, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_int_division(const ir::Binary& x, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_shift(ir::BinOp op, llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* emit_fused(const ir::Binary& x);  // null when it is no a * b + c
  llvm::Value* emit_gated(const ir::Binary& x);  // null when it is no x * sigmoid(x)
  llvm::Value* emit_math(const ir::Math& x, ir::DType type);
  llvm::Value* emit_int_math(ir::MathFn fn, llvm::Value* value, ir::DType type);
  llvm::Value* emit_reduce(const ir::VectorReduce& x);

  // expressions.cpp
  llvm::Value* emit(const ir::Expr& e);
  llvm::Value* emit_node(const ir::Expr& e);
  llvm::Value* emit_select(const ir::Select& x, ir::DType type);
  llvm::Value* emit_branches(llvm::Value* condition, const ir::Select& x, ir::DType type);
  llvm::Value* emit_masked_sides(const ir::Select& x, ir::DType type);
  llvm::Value* emit_opaque(const ir::Opaque& x);
  llvm::Value* emit_index(const LinearIndex& index);  // without its constant

  // memory.cpp
  llvm::Value* emit_load(const ir::Load& x, ir::DType type);
  llvm::Value* load_strided(const ir::Load& x, const Strided& at, int lanes);
  struct Widened {
    int lanes;
    llvm::Value* mask;  // null: they are as many as they were
  };
  Widened widened(const ir::BufferNode& buffer, int lanes);
  void clear(const ir::BufferNode& buffer);
  llvm::Value* load_consecutive(const ir::Load& x, const ir::Expr& first, int lanes);
  llvm::Value* load_interleaved(const ir::Load& x, const ir::Expr& base, std::int64_t stride,
                                int lanes);
  llvm::Value* load_scalar(const ir::BufferNode& buffer, llvm::Value* address, std::int64_t align);
  llvm::Value* load_lanes(const ir::Load& x, int lanes);
  llvm::Value* address_inside(const ir::BufferNode& buffer, llvm::Value* base,
                              const ir::Expr& first, int lanes);
  llvm::Value* load_masked(const ir::Load& x, ir::DType type);
  llvm::Value* address(const ir::BufferNode& buffer, llvm::Value* base, const ir::Expr& index);
  llvm::Value* address(const ir::BufferNode& buffer, llvm::Value* base, llvm::Value* sum,
                       std::int64_t constant);
  std::int64_t alignment(const ir::BufferNode& buffer, const LinearIndex& index) const;
  std::int64_t alignment(const ir::BufferNode& buffer, const ir::Expr& index) const {
    return alignment(buffer, linearize(index, facts_));
  }
  void emit_store(const ir::Store& s);
  void store_value(const ir::BufferNode& buffer, llvm::Value* address, llvm::Value* value,
                   std::int64_t align);
  llvm::Value* slot(const ir::BufferNode& buffer, const ir::Expr& index);
  void bind_allocation(const ir::BufferNode& buffer);
  void launder();
  void tag(llvm::Instruction* access, const ir::BufferNode& buffer);
  void make_alias_tags();

  // statements.cpp
  void emit(const ir::Stmt& s);
  void emit_loop(const ir::For& loop);
  void emit_if(const ir::If& s);
  void emit_let(const ir::LetStmt& s);
  // Calls body(i) for i in [first, first + extent) in a loop of the generated code.
  void counted_loop(const std::string& name, llvm::Value* first, llvm::Value* extent,
                    bool never_empty, llvm::function_ref<void(llvm::Value*)> body);
  void emit_loop_body(const ir::For& loop, llvm::Value* value);
  void with_var(const std::string& name, llvm::Value* value, const VarFacts& facts,
                llvm::function_ref<void()> body);
  // Laundered pointers hold until the end of the loop body or branch they were made in.
  codegen::BufferMap<llvm::Value*> load_bases() const;
  void restore_load_bases(const codegen::BufferMap<llvm::Value*>& bases);

  // parallel.cpp
  void emit_parallel(const ir::For& loop);
  llvm::Function* emit_task(const ir::For& loop, const Captures& captures);
  void call_parallel_for(llvm::Value* extent, bool sliced, llvm::Function* task,
                         llvm::Value* closure);
  void open_function(llvm::Function* function);

  llvm::LLVMContext& context_;
  llvm::Module& module_;
  const target::Target& target_;
  CpuFeatures features_;
  llvm::IRBuilder<> b_;

  const ir::Kernel* kernel_ = nullptr;
  const StoragePlan* plan_ = nullptr;
  codegen::BufferMap<AliasTags> alias_tags_;
  Frame frame_;
  Facts facts_;
  int depth_ = 0;       // of loops and lets around the current statement
  int task_count_ = 0;  // of the current kernel, for names
  bool in_index_ = false;
  // Lanes in which the expression being written may be evaluated; null means all.
  llvm::Value* mask_ = nullptr;
  // Values of the current statement's expressions; the handle keeps the node alive.
  std::unordered_map<const ir::ExprNode*, std::pair<ir::Expr, llvm::Value*>> memo_;
  // Unrolled code repeats indices and loads; finding them here is cheaper than having LLVM merge
  // them. Sums are forgotten at the end of the scope they were computed in, loads also at stores to
  // the buffer and wherever control flow joins.
  std::vector<KnownSum> sums_;
  std::map<LoadKey, llvm::Value*> loads_;
};

}  // namespace attune::cpu
