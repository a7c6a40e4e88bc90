// Types, constants and conversions. f16 and bf16 are held as f32 and have their 16 bits in memory
// only; storing and casting round to nearest even.
#include <bit>

#include <llvm/ADT/APFloat.h>
#include "base/check.h"
#include "targets/cpu/codegen/emitter.h"

namespace attune::cpu {
namespace {

using ir::DType;
using ir::TypeKind;

llvm::Type* with_lanes_of(llvm::Type* element, llvm::Type* shape) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

// Bit manipulation on i32 lanes, in the shape of one value.
class Bits {
 public:
  Bits(llvm::IRBuilder<>& b, llvm::Type* shape)
      : b_(b), type_(with_lanes_of(b.getInt32Ty(), shape)) {}

  llvm::Type* type() const { return type_; }
  llvm::Type* floats() const { return with_lanes_of(b_.getFloatTy(), type_); }
  llvm::Type* halves() const { return with_lanes_of(b_.getInt16Ty(), type_); }
  llvm::Value* c(std::uint32_t value) { return llvm::ConstantInt::get(type_, value); }
  llvm::Value* of_float(llvm::Value* v) { return b_.CreateBitCast(v, type_); }
  llvm::Value* as_float(llvm::Value* v) { return b_.CreateBitCast(v, floats()); }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Type* type_;
};

llvm::Value* widen_half(llvm::IRBuilder<>& b, llvm::Value* half) {
  Bits bits(b, half->getType());
  llvm::Value* h = b.CreateZExt(half, bits.type());
  llvm::Value* magnitude = b.CreateAnd(h, bits.c(0x7fff));
  llvm::Value* shifted = b.CreateShl(magnitude, bits.c(13));
  // Scaling by 2^112 moves the exponent bias and turns subnormal halves into normal floats.
  llvm::Value* scale = llvm::ConstantFP::get(bits.floats(), 0x1p112);
  llvm::Value* finite = bits.of_float(b.CreateFMul(bits.as_float(shifted), scale));
  llvm::Value* special = b.CreateOr(shifted, bits.c(0x7f800000));
  llvm::Value* is_special = b.CreateICmpUGE(magnitude, bits.c(0x7c00));
  llvm::Value* sign = b.CreateShl(b.CreateAnd(h, bits.c(0x8000)), bits.c(16));
  return bits.as_float(b.CreateOr(b.CreateSelect(is_special, special, finite), sign));
}

llvm::Value* narrow_half(llvm::IRBuilder<>& b, llvm::Value* value) {
  Bits bits(b, value->getType());
  llvm::Value* all = bits.of_float(value);
  llvm::Value* sign = b.CreateAnd(all, bits.c(0x80000000));
  llvm::Value* u = b.CreateXor(all, sign);
  // Subnormal results: adding 0.5 leaves the rounded mantissa in the low bits of the sum.
  llvm::Value* magic = bits.c(0x3f000000);
  llvm::Value* small =
      b.CreateSub(bits.of_float(b.CreateFAdd(bits.as_float(u), bits.as_float(magic))), magic);
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(u, bits.c(13)), bits.c(1));
  llvm::Value* rounded = b.CreateAdd(b.CreateAdd(u, bits.c(0xc8000fff)), odd);
  llvm::Value* normal = b.CreateLShr(rounded, bits.c(13));
  llvm::Value* finite = b.CreateSelect(b.CreateICmpULT(u, bits.c(0x38800000)), small, normal);
  llvm::Value* is_nan = b.CreateICmpUGT(u, bits.c(0x7f800000));
  llvm::Value* special = b.CreateSelect(is_nan, bits.c(0x7e00), bits.c(0x7c00));
  llvm::Value* magnitude = b.CreateSelect(b.CreateICmpUGE(u, bits.c(0x47800000)), special, finite);
  return b.CreateTrunc(b.CreateOr(magnitude, b.CreateLShr(sign, bits.c(16))), bits.halves());
}

llvm::Value* widen_bfloat(llvm::IRBuilder<>& b, llvm::Value* value) {
  Bits bits(b, value->getType());
  return bits.as_float(b.CreateShl(b.CreateZExt(value, bits.type()), bits.c(16)));
}

llvm::Value* narrow_bfloat(llvm::IRBuilder<>& b, llvm::Value* value) {
  Bits bits(b, value->getType());
  llvm::Value* u = bits.of_float(value);
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(u, bits.c(16)), bits.c(1));
  llvm::Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(u, bits.c(0x7fff)), odd), bits.c(16));
  llvm::Value* nan = b.CreateOr(b.CreateLShr(u, bits.c(16)), bits.c(0x40));
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), nan, rounded), bits.halves());
}

}  // namespace

llvm::Type* Emitter::element_type(DType type) const {
  switch (type.kind) {
    case TypeKind::Float:
    case TypeKind::BFloat:
      return type.bits == 64 ? llvm::Type::getDoubleTy(context_) : llvm::Type::getFloatTy(context_);
    case TypeKind::Int:
    case TypeKind::UInt:
      return llvm::Type::getIntNTy(context_, type.bits);
    case TypeKind::Bool:
      return llvm::Type::getInt1Ty(context_);
  }
  CHECK(false, "unknown type kind");
}

llvm::Type* Emitter::value_type(DType type) const {
  llvm::Type* element = element_type(type);
  return type.is_scalar() ? element : llvm::FixedVectorType::get(element, type.lanes);
}

llvm::Type* Emitter::memory_type(DType type) const {
  if (!type.is_bool() && !is_small_float(type)) return value_type(type);
  llvm::Type* element = llvm::Type::getIntNTy(context_, type.is_bool() ? 8 : 16);
  return type.is_scalar() ? element : llvm::FixedVectorType::get(element, type.lanes);
}

llvm::Value* Emitter::constant(double value, DType type) const {
  if (!is_small_float(type)) return llvm::ConstantFP::get(value_type(type), value);
  llvm::APFloat rounded(value);
  bool lossy = false;
  const auto& semantics =
      type.kind == TypeKind::BFloat ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
  rounded.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return llvm::ConstantFP::get(value_type(type), rounded);
}

llvm::Value* Emitter::constant_int(std::int64_t value, DType type) const {
  return llvm::ConstantInt::get(value_type(type), static_cast<std::uint64_t>(value), true);
}

llvm::Value* Emitter::splat(llvm::Value* scalar, int lanes) {
  return lanes == 1 ? scalar : b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

llvm::Value* Emitter::widen(llvm::Value* value, DType from) {
  if (from.kind == TypeKind::BFloat) return widen_bfloat(b_, value);
  if (!features_.half_cast) return widen_half(b_, value);
  llvm::Type* half = with_lanes_of(b_.getHalfTy(), value->getType());
  return b_.CreateFPExt(b_.CreateBitCast(value, half),
                        with_lanes_of(b_.getFloatTy(), value->getType()));
}

llvm::Value* Emitter::narrow(llvm::Value* value, DType to) {
  if (to.kind == TypeKind::BFloat) return narrow_bfloat(b_, value);
  if (!features_.half_cast) return narrow_half(b_, value);
  llvm::Type* half = with_lanes_of(b_.getHalfTy(), value->getType());
  return b_.CreateBitCast(b_.CreateFPTrunc(value, half),
                          with_lanes_of(b_.getInt16Ty(), value->getType()));
}

llvm::Value* Emitter::to_memory(llvm::Value* value, DType type) {
  if (is_small_float(type)) return narrow(value, type);
  return type.is_bool() ? b_.CreateZExt(value, memory_type(type)) : value;
}

llvm::Value* Emitter::from_memory(llvm::Value* value, DType type) {
  if (is_small_float(type)) return widen(value, type);
  if (!type.is_bool()) return value;
  return b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

llvm::Value* Emitter::cast_value(llvm::Value* value, DType from, DType to) {
  if (from == to) return value;
  if (is_small_float(from)) return cast_value(value, ir::kF32.with_lanes(from.lanes), to);
  if (is_small_float(to)) {
    return widen(narrow(cast_value(value, from, ir::kF32.with_lanes(from.lanes)), to), to);
  }
  llvm::Type* type = value_type(to);
  if (to.is_bool()) {
    llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_float() ? b_.CreateFCmpUNE(value, zero) : b_.CreateICmpNE(value, zero);
  }
  if (from.is_float() && to.is_float()) return b_.CreateFPCast(value, type);
  if (from.is_float()) {
    const auto id =
        to.kind == TypeKind::UInt ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
    return b_.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  const bool is_signed = from.kind == TypeKind::Int;
  if (to.is_float()) {
    return is_signed ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
  }
  return b_.CreateIntCast(value, type, is_signed);
}

}  // namespace attune::cpu
