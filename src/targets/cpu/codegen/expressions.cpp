// Expressions: dispatch over the node kinds, selects and their guarded sides, intrinsics, indices.
#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "targets/cpu/codegen/emitter.h"

namespace attune::cpu {

using codegen::walk;

namespace {

bool reads_memory(const ir::Expr& e) {
  bool found = false;
  walk(e, [&](const ir::Expr& node) { found |= ir::as<ir::Load>(node) != nullptr; });
  return found;
}

}  // namespace

using ir::DType;

llvm::Value* Emitter::emit(const ir::Expr& e) {
  if (const auto found = memo_.find(&*e); found != memo_.end()) return found->second.second;
  llvm::Value* value = emit_node(e);
  // Values written under a mask hold only in its lanes.
  if (mask_ == nullptr) memo_.emplace(&*e, std::pair(e, value));
  return value;
}

llvm::Value* Emitter::emit_node(const ir::Expr& e) {
  const DType type = e.type();
  return std::visit(
      Match{
          [&](const ir::IntImm& x) { return constant_int(x.value, type); },
          [&](const ir::FloatImm& x) { return constant(x.value, type); },
          [&](const ir::Var& x) {
            const auto found = frame_.vars.find(x.name);
            CHECK(found != frame_.vars.end(), "variable '" + x.name + "' is not bound");
            return found->second;
          },
          [&](const ir::Binary& x) { return emit_binary(x); },
          [&](const ir::Math& x) { return emit_math(x, type); },
          [&](const ir::Select& x) { return emit_select(x, type); },
          [&](const ir::Cast& x) { return cast_value(emit(x.value), x.value.type(), type); },
          [&](const ir::Load& x) { return emit_load(x, type); },
          [&](const ir::Ramp& x) -> llvm::Value* {
            llvm::Value* lanes = llvm::PoisonValue::get(value_type(type));
            for (int i = 0; i < type.lanes; ++i) {
              lanes = b_.CreateInsertElement(lanes, constant_int(i, type.element()),
                                             static_cast<std::uint64_t>(i));
            }
            llvm::Value* step = b_.CreateMul(lanes, splat(emit(x.stride), type.lanes));
            return b_.CreateAdd(splat(emit(x.base), type.lanes), step);
          },
          [&](const ir::Broadcast& x) { return splat(emit(x.value), type.lanes); },
          [&](const ir::VectorReduce& x) { return emit_reduce(x); },
          [&](const ir::Opaque& x) { return emit_opaque(x); },
      },
      e->kind);
}

llvm::Value* Emitter::emit_select(const ir::Select& x, DType type) {
  const auto* uniform = ir::as<ir::Broadcast>(x.condition);
  const ir::Expr& condition = uniform ? uniform->value : x.condition;
  const bool safe = safe_to_speculate(x.if_true, facts_) && safe_to_speculate(x.if_false, facts_);
  if (!safe && condition.type().is_scalar()) return emit_branches(emit(condition), x, type);
  if (!safe) return emit_masked_sides(x, type);
  llvm::Value* chosen = emit(condition);
  llvm::Value* a = emit(x.if_true);
  return b_.CreateSelect(chosen, a, emit(x.if_false));
}

// Only the chosen side is evaluated.
llvm::Value* Emitter::emit_branches(llvm::Value* condition, const ir::Select& x, DType type) {
  llvm::Function* function = frame_.function;
  auto* then_block = llvm::BasicBlock::Create(context_, "then", function);
  auto* else_block = llvm::BasicBlock::Create(context_, "else", function);
  auto* join = llvm::BasicBlock::Create(context_, "join", function);
  b_.CreateCondBr(condition, then_block, else_block);
  const auto outside = memo_;
  const std::size_t sums = sums_.size();
  const auto side = [&](llvm::BasicBlock* block, const ir::Expr& e) {
    b_.SetInsertPoint(block);
    llvm::Value* value = emit(e);
    memo_ = outside;
    sums_.resize(sums);
    loads_.clear();
    b_.CreateBr(join);
    return std::pair(value, b_.GetInsertBlock());
  };
  const auto [a, a_end] = side(then_block, x.if_true);
  const auto [b, b_end] = side(else_block, x.if_false);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(value_type(type), 2);
  phi->addIncoming(a, a_end);
  phi->addIncoming(b, b_end);
  return phi;
}

// Both sides are evaluated, but their loads touch only the lanes that choose them.
llvm::Value* Emitter::emit_masked_sides(const ir::Select& x, DType) {
  llvm::Value* condition = emit(x.condition);
  llvm::Value* outer = mask_;
  const auto side = [&](llvm::Value* mask, const ir::Expr& e) {
    if (safe_to_speculate(e, facts_)) return emit(e);
    const bool combine = outer && outer->getType() == mask->getType();
    mask_ = combine ? b_.CreateAnd(outer, mask) : mask;
    llvm::Value* value = emit(e);
    mask_ = outer;
    return value;
  };
  llvm::Value* a = side(condition, x.if_true);
  llvm::Value* b = side(b_.CreateNot(condition), x.if_false);
  return b_.CreateSelect(condition, a, b);
}

llvm::Value* Emitter::emit_opaque(const ir::Opaque& x) {
  if (x.name == ir::kWorker) {
    return frame_.worker ? frame_.worker : b_.getInt64(0);
  }
  if (x.name == ir::kLaunder) {
    launder();
    return b_.getInt64(0);
  }
  CHECK(x.name == ir::kPrefetch, "unknown intrinsic '" + x.name + "'");
  const auto* at = ir::as<ir::Load>(x.args[0]);
  const std::int64_t* locality = ir::as_int(x.args[1]);
  CHECK(at && locality, "a prefetch takes a load and a constant locality");
  const ir::Expr index = at->index[0].type().is_scalar() ? at->index[0]
                         : as_strided(at->index[0])      ? as_strided(at->index[0])->base
                                                         : ir::Expr(0);
  llvm::Value* where = address(*at->buffer, frame_.buffers[at->buffer.get()].load_base, index);
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {where->getType()},
      {where, b_.getInt32(0), b_.getInt32(static_cast<std::uint32_t>(*locality)), b_.getInt32(1)});
  return b_.getInt64(0);
}

llvm::Value* Emitter::emit_index(const LinearIndex& index) {
  if (index.terms.empty()) return nullptr;
  for (const KnownSum& known : sums_) {
    if (known.terms == index.terms) return known.value;
  }
  const bool before = std::exchange(in_index_, true);
  llvm::Value* sum = nullptr;
  for (const auto& [term, coefficient] : index.terms) {
    llvm::Value* value = emit(term);
    if (coefficient != 1) value = b_.CreateMul(value, index_value(coefficient), "", false, true);
    sum = sum ? b_.CreateAdd(sum, value, "", false, true) : value;
  }
  in_index_ = before;
  const bool lasting = std::none_of(index.terms.begin(), index.terms.end(),
                                    [](const LinearTerm& t) { return reads_memory(t.term); });
  if (lasting) sums_.push_back({index.terms, sum});
  return sum;
}

}  // namespace attune::cpu
