// Addresses, loads, stores and allocations. Base pointers are aligned to 64 bytes; an access claims
// the alignment that follows from the divisors of its index.
#include <bit>
#include <numeric>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include "base/check.h"
#include "targets/cpu/codegen/emitter.h"

namespace attune::cpu {
namespace {

using ir::DType;

constexpr std::int64_t kBaseAlignment = 64;

std::vector<int> first_lanes(int count) {
  std::vector<int> lanes(static_cast<std::size_t>(count));
  std::iota(lanes.begin(), lanes.end(), 0);
  return lanes;
}

}  // namespace

void Emitter::make_alias_tags() {
  alias_tags_.clear();
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(kernel_->name);
  std::vector<llvm::Metadata*> scopes;
  for (const ir::Buffer& buffer : plan_->in_memory) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain, buffer->name));
  }
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    alias_tags_[plan_->in_memory[i].get()] = {llvm::MDNode::get(context_, scopes[i]),
                                              llvm::MDNode::get(context_, others)};
  }
}

void Emitter::tag(llvm::Instruction* access, const ir::BufferNode& buffer) {
  const auto found = alias_tags_.find(&buffer);
  if (found == alias_tags_.end()) return;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, found->second.scope);
  access->setMetadata(llvm::LLVMContext::MD_noalias, found->second.others);
}

std::int64_t Emitter::alignment(const ir::BufferNode& buffer, const LinearIndex& index) const {
  std::int64_t divisor = std::gcd(index.constant, kBaseAlignment);
  for (const auto& [term, coefficient] : index.terms) {
    const auto factor = std::gcd(coefficient, kBaseAlignment);
    divisor = std::gcd(divisor, factor * std::gcd(divisor_of(term, facts_), kBaseAlignment));
  }
  return std::gcd(divisor * buffer.type.element_bytes(), kBaseAlignment);
}

llvm::Value* Emitter::address(const ir::BufferNode& buffer, llvm::Value* base,
                              const ir::Expr& index) {
  const LinearIndex linear = linearize(index, facts_);
  return address(buffer, base, emit_index(linear), linear.constant);
}

llvm::Value* Emitter::address(const ir::BufferNode& buffer, llvm::Value* base, llvm::Value* sum,
                              std::int64_t constant) {
  CHECK(base != nullptr, "buffer '" + buffer.name + "' is used outside of its allocation");
  llvm::Type* element = memory_type(buffer.type);
  llvm::Value* at = sum ? b_.CreateGEP(element, base, sum) : base;
  // The constant comes last: it becomes the displacement of the instruction, and neighbouring
  // accesses share all the rest.
  return constant == 0 ? at : b_.CreateGEP(element, at, index_value(constant));
}

llvm::Value* Emitter::slot(const ir::BufferNode& buffer, const ir::Expr& index) {
  const int lanes = index.type().lanes;
  llvm::Value*& place = frame_.buffers[&buffer].slots[{*constant_place(index), lanes}];
  if (place == nullptr) {
    llvm::IRBuilder<> at_entry(frame_.alloca_point);
    place = at_entry.CreateAlloca(memory_type(buffer.type.with_lanes(lanes)), nullptr, buffer.name);
  }
  return place;
}

llvm::Value* Emitter::emit_load(const ir::Load& x, DType type) {
  const ir::BufferNode& buffer = *x.buffer;
  const ir::Expr& index = x.index[0];
  if (plan_->as_values.contains(&buffer)) {
    return from_memory(b_.CreateLoad(memory_type(type), slot(buffer, index)), type);
  }
  if (mask_ != nullptr) {
    const auto range = range_of(index, facts_);
    if (!range || range->min < 0 || range->max >= ir::element_count(buffer)) {
      return from_memory(load_masked(x, type), type);
    }
  }
  llvm::Value* value = nullptr;
  if (type.is_scalar()) {
    value = load_consecutive(x, index, 1);
  } else if (const auto strided = as_strided(index)) {
    value = load_strided(x, *strided, type.lanes);
  } else {
    value = load_lanes(x, type.lanes);
  }
  return from_memory(value, type);
}

llvm::Value* Emitter::load_consecutive(const ir::Load& x, const ir::Expr& first, int lanes) {
  const ir::BufferNode& buffer = *x.buffer;
  llvm::Value* base = frame_.buffers[&buffer].load_base;
  const LinearIndex index = linearize(first, facts_);
  llvm::Value* sum = emit_index(index);
  llvm::Value*& known = loads_[{&buffer, base, sum, index.constant, lanes}];
  if (known == nullptr) {
    llvm::Value* at = address(buffer, base, sum, index.constant);
    const llvm::Align align(alignment(buffer, index));
    const Widened wide = widened(buffer, lanes);
    if (wide.mask == nullptr && !std::has_single_bit(static_cast<unsigned>(lanes))) clear(buffer);
    llvm::Type* type = memory_type(buffer.type.with_lanes(wide.lanes));
    llvm::Instruction* load = nullptr;
    if (wide.mask == nullptr) {
      load = b_.CreateAlignedLoad(type, at, align);
    } else {
      load = b_.CreateMaskedLoad(type, at, align, wide.mask, llvm::PoisonValue::get(type));
    }
    tag(load, buffer);
    known = wide.mask == nullptr ? load : b_.CreateShuffleVector(load, first_lanes(lanes));
  }
  return known;
}

// Lanes of which there is no vector are the first ones of a wider vector under a mask; but not on
// the stack, where masks would keep LLVM from making registers of memory.
Emitter::Widened Emitter::widened(const ir::BufferNode& buffer, int lanes) {
  const int wide = static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
  const bool on_stack = llvm::isa_and_nonnull<llvm::AllocaInst>(frame_.buffers[&buffer].base);
  if (wide == lanes || on_stack) return {lanes, nullptr};
  std::vector<llvm::Constant*> bits;
  for (int lane = 0; lane < wide; ++lane) bits.push_back(b_.getInt1(lane < lanes));
  return {wide, llvm::ConstantVector::get(bits)};
}

// Once, as the function begins. LLVM loads such vectors whole: what lies behind their last lane
// takes part in the arithmetic, and what the stack held before may be numbers so small that
// processors take a hundred times as long for them.
void Emitter::clear(const ir::BufferNode& buffer) {
  BufferBinding& binding = frame_.buffers[&buffer];
  if (binding.cleared == binding.base) return;
  binding.cleared = binding.base;
  llvm::IRBuilder<> at_entry(frame_.alloca_point);
  const std::int64_t bytes = ir::element_count(buffer) * buffer.type.element_bytes();
  at_entry.CreateMemSetInline(binding.base, llvm::Align(kBaseAlignment), at_entry.getInt8(0),
                              at_entry.getInt64(static_cast<std::uint64_t>(bytes)));
}

llvm::Value* Emitter::load_strided(const ir::Load& x, const Strided& at, int lanes) {
  const std::int64_t* stride = ir::as_int(at.stride);
  if (!stride) return load_lanes(x, lanes);
  if (*stride == 1) return load_consecutive(x, at.base, lanes);
  if (*stride == 0) return splat(load_consecutive(x, at.base, 1), lanes);
  if (*stride == -1) {
    std::vector<int> reversed;
    for (int i = lanes - 1; i >= 0; --i) reversed.push_back(i);
    return b_.CreateShuffleVector(load_consecutive(x, at.base - ir::Expr(lanes - 1), lanes),
                                  reversed);
  }
  if (*stride >= 2 && *stride <= 4) return load_interleaved(x, at.base, *stride, lanes);
  return load_lanes(x, lanes);
}

// `stride` consecutive loads, the last one ending exactly at the last lane, so that nothing outside
// of the accessed range is touched; then the lanes are picked out.
llvm::Value* Emitter::load_interleaved(const ir::Load& x, const ir::Expr& base, std::int64_t stride,
                                       int lanes) {
  llvm::Value* result = nullptr;
  const std::int64_t span = (lanes - 1) * stride + 1;
  for (std::int64_t piece = 0; piece < stride; ++piece) {
    const std::int64_t first = std::min(piece * lanes, span - lanes);
    llvm::Value* loaded = load_consecutive(x, base + ir::Expr(first), lanes);
    std::vector<int> picks;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t element = lane * stride;
      const bool here = std::min(element / lanes, stride - 1) == piece;
      const int kept = result ? lane : llvm::PoisonMaskElem;
      const int offset = result ? lanes : 0;
      picks.push_back(here ? static_cast<int>(element - first) + offset : kept);
    }
    result = result ? b_.CreateShuffleVector(result, loaded, picks)
                    : b_.CreateShuffleVector(loaded, picks);
  }
  return result;
}

llvm::Value* Emitter::load_lanes(const ir::Load& x, int lanes) {
  const ir::BufferNode& buffer = *x.buffer;
  llvm::Value* base = frame_.buffers[&buffer].load_base;
  CHECK(base != nullptr, "buffer '" + buffer.name + "' is used outside of its allocation");
  llvm::Value* result = llvm::PoisonValue::get(memory_type(buffer.type.with_lanes(lanes)));
  const auto strided = as_strided(x.index[0]);
  llvm::Value* indices = strided ? nullptr : emit(x.index[0]);
  for (int lane = 0; lane < lanes; ++lane) {
    llvm::Value* element = nullptr;
    if (strided) {
      element = load_consecutive(x, strided->base + strided->stride * ir::Expr(lane), 1);
    } else {
      llvm::Value* index = b_.CreateExtractElement(indices, static_cast<std::uint64_t>(lane));
      llvm::Value* at = b_.CreateGEP(memory_type(buffer.type), base, index);
      element = load_scalar(buffer, at, buffer.type.element_bytes());
    }
    result = b_.CreateInsertElement(result, element, static_cast<std::uint64_t>(lane));
  }
  return result;
}

llvm::Value* Emitter::load_scalar(const ir::BufferNode& buffer, llvm::Value* at,
                                  std::int64_t align) {
  auto* load = b_.CreateAlignedLoad(memory_type(buffer.type), at, llvm::Align(align));
  tag(load, buffer);
  return load;
}

// Where consecutive lanes begin, or `base` for lanes that all lie outside of the buffer. Such lanes
// are masked; but a masked load from a page that is not mapped takes processors hundreds of cycles.
llvm::Value* Emitter::address_inside(const ir::BufferNode& buffer, llvm::Value* base,
                                     const ir::Expr& first, int lanes) {
  const LinearIndex index = linearize(first, facts_);
  llvm::Value* sum = emit_index(index);
  llvm::Value* at = address(buffer, base, sum, index.constant);
  const auto range = range_of(first, facts_);
  const std::int64_t count = ir::element_count(buffer);
  if (sum == nullptr || (range && range->min > -lanes && range->max < count)) return at;
  const std::int64_t before = lanes - 1;
  llvm::Value* inside = b_.CreateICmpULT(b_.CreateAdd(sum, index_value(index.constant + before)),
                                         index_value(count + before));
  return b_.CreateSelect(inside, at, base);
}

// A load in the lanes of mask_ only. Other lanes are zero.
llvm::Value* Emitter::load_masked(const ir::Load& x, DType type) {
  const ir::BufferNode& buffer = *x.buffer;
  llvm::Type* memory = memory_type(type);
  llvm::Value* nothing = llvm::Constant::getNullValue(memory);
  const auto* mask_type = llvm::dyn_cast<llvm::FixedVectorType>(mask_->getType());
  const auto strided = as_strided(x.index[0]);
  if (mask_type && !type.is_scalar() && mask_type->getNumElements() == type.lanes) {
    llvm::Value* base = frame_.buffers[&buffer].load_base;
    llvm::CallInst* load = nullptr;
    if (strided && ir::is_const_int(strided->stride, 1)) {
      load = b_.CreateMaskedLoad(memory, address_inside(buffer, base, strided->base, type.lanes),
                                 llvm::Align(alignment(buffer, strided->base)), mask_, nothing);
    } else {
      llvm::Value* at = b_.CreateGEP(memory_type(buffer.type), base, emit(x.index[0]));
      load = b_.CreateMaskedGather(memory, at, llvm::Align(buffer.type.element_bytes()), mask_,
                                   nothing);
    }
    tag(load, buffer);
    return load;
  }
  llvm::Value* any = mask_type ? b_.CreateOrReduce(mask_) : mask_;
  auto* then_block = llvm::BasicBlock::Create(context_, "any", frame_.function);
  auto* join = llvm::BasicBlock::Create(context_, "join", frame_.function);
  llvm::BasicBlock* from = b_.GetInsertBlock();
  const std::size_t sums = sums_.size();
  b_.CreateCondBr(any, then_block, join);
  b_.SetInsertPoint(then_block);
  llvm::Value* value = type.is_scalar() ? load_consecutive(x, x.index[0], 1)
                       : strided        ? load_strided(x, *strided, type.lanes)
                                        : load_lanes(x, type.lanes);
  llvm::BasicBlock* end = b_.GetInsertBlock();
  sums_.resize(sums);
  loads_.clear();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(memory, 2);
  phi->addIncoming(nothing, from);
  phi->addIncoming(value, end);
  return phi;
}

void Emitter::store_value(const ir::BufferNode& buffer, llvm::Value* at, llvm::Value* value,
                          std::int64_t align) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const int lanes = vector ? static_cast<int>(vector->getNumElements()) : 1;
  const Widened wide = widened(buffer, lanes);
  if (wide.mask == nullptr) {
    tag(b_.CreateAlignedStore(value, at, llvm::Align(align)), buffer);
    return;
  }
  std::vector<int> picks = first_lanes(lanes);
  picks.resize(static_cast<std::size_t>(wide.lanes), llvm::PoisonMaskElem);
  tag(b_.CreateMaskedStore(b_.CreateShuffleVector(value, picks), at, llvm::Align(align), wide.mask),
      buffer);
}

void Emitter::emit_store(const ir::Store& s) {
  const ir::BufferNode& buffer = *s.buffer;
  const ir::Expr& index = s.index[0];
  const DType type = buffer.type.with_lanes(index.type().lanes);
  // Storing rounds anyway; a cast from single just before it would round twice.
  const auto* cast = is_small_float(type) ? ir::as<ir::Cast>(s.value) : nullptr;
  const bool skip = cast && cast->value.type().element() == ir::kF32;
  llvm::Value* value = to_memory(emit(skip ? cast->value : s.value), s.value.type());
  if (s.value.type().is_scalar()) value = splat(value, type.lanes);
  if (plan_->as_values.contains(&buffer)) {
    b_.CreateStore(value, slot(buffer, index));
    return;
  }
  std::erase_if(loads_, [&](const auto& known) { return known.first.buffer == &buffer; });
  llvm::Value* base = frame_.buffers[&buffer].base;
  const auto strided = type.is_scalar() ? std::nullopt : as_strided(index);
  if (type.is_scalar() || (strided && ir::is_const_int(strided->stride, 1))) {
    const ir::Expr& first = strided ? strided->base : index;
    store_value(buffer, address(buffer, base, first), value, alignment(buffer, first));
    return;
  }
  llvm::Value* indices = strided ? nullptr : emit(index);
  for (int lane = 0; lane < type.lanes; ++lane) {
    llvm::Value* element = b_.CreateExtractElement(value, static_cast<std::uint64_t>(lane));
    llvm::Value* at = nullptr;
    if (strided) {
      at = address(buffer, base, strided->base + strided->stride * ir::Expr(lane));
    } else {
      llvm::Value* place = b_.CreateExtractElement(indices, static_cast<std::uint64_t>(lane));
      at = b_.CreateGEP(memory_type(buffer.type), base, place);
    }
    store_value(buffer, at, element, buffer.type.element_bytes());
  }
}

void Emitter::bind_allocation(const ir::BufferNode& buffer) {
  BufferBinding& binding = frame_.buffers[&buffer];
  if (plan_->as_values.contains(&buffer)) return;
  const auto range = plan_->workspace.find(&buffer);
  if (range != plan_->workspace.end()) {
    const WorkspaceRange& r = range->second;
    llvm::Value* offset = index_value(r.offset);
    if (r.per_worker && frame_.worker != nullptr) {
      offset = b_.CreateAdd(offset, b_.CreateMul(frame_.worker, index_value(r.slice_bytes)));
    }
    binding.base = b_.CreateGEP(b_.getInt8Ty(), frame_.workspace, offset, buffer.name);
  } else if (binding.base == nullptr) {
    llvm::IRBuilder<> at_entry(frame_.alloca_point);
    auto* array = llvm::ArrayType::get(memory_type(buffer.type),
                                       static_cast<std::uint64_t>(ir::element_count(buffer)));
    auto* memory = at_entry.CreateAlloca(array, nullptr, buffer.name);
    memory->setAlignment(llvm::Align(kBaseAlignment));
    binding.base = memory;
  }
  binding.load_base = binding.base;
}

// An empty piece of assembly that is said to compute the pointer: the optimiser cannot see that
// loads before and after it read the same memory. Chained, so that no two of them are alike.
void Emitter::launder() {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(pointer, {pointer}, false);
  auto* identity = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  for (auto& [buffer, binding] : frame_.buffers) {
    if (binding.load_base == nullptr || llvm::isa<llvm::AllocaInst>(binding.base)) continue;
    llvm::CallInst* call = b_.CreateCall(type, identity, {binding.load_base});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::WillReturn);
    binding.load_base = call;
  }
}

}  // namespace attune::cpu
