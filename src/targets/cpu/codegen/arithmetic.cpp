// Binary operators, reductions over lanes, and the mathematical functions that are no polynomials.
#include <llvm/IR/PatternMatch.h>
#include "base/check.h"
#include "targets/cpu/codegen/emitter.h"
#include "targets/cpu/codegen/math.h"

namespace attune::cpu {
namespace {

using ir::BinOp;
using ir::DType;
using ir::MathFn;

// The operands of e when it is a float product, directly or broadcast.
const ir::Binary* as_product(const ir::Expr& e) {
  const auto* x = ir::as<ir::Binary>(e);
  return x && x->op == BinOp::Mul && e.type().is_float() ? x : nullptr;
}

bool is_number(const ir::Expr& e) {
  const auto* broadcast = ir::as<ir::Broadcast>(e);
  return ir::as<ir::FloatImm>(broadcast ? broadcast->value : e) != nullptr;
}

// Whether a value is one number in all lanes, and no NaN.
bool is_number(llvm::Value* value) {
  const llvm::APFloat* number = nullptr;
  return llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(number)) &&
         !number->isNaN();
}

// The argument of e when that is the sigmoid of y or of y times a number.
const ir::Expr* as_gate_of(const ir::Expr& y, const ir::Expr& e) {
  const auto* sigmoid = ir::as<ir::Math>(e);
  if (sigmoid == nullptr || sigmoid->fn != MathFn::Sigmoid) return nullptr;
  const ir::Expr& x = sigmoid->args[0];
  const ir::Binary* scaled = as_product(x);
  const bool is_scaled = scaled && is_number(scaled->rhs) && ir::equal(scaled->lhs, y);
  return is_scaled || ir::equal(x, y) ? &x : nullptr;
}

llvm::CmpInst::Predicate predicate(BinOp op, DType type) {
  using P = llvm::CmpInst::Predicate;
  const bool f = type.is_float(), u = type.kind != ir::TypeKind::Int;
  switch (op) {
    case BinOp::Eq:
      return f ? P::FCMP_OEQ : P::ICMP_EQ;
    case BinOp::Ne:
      return f ? P::FCMP_UNE : P::ICMP_NE;
    case BinOp::Lt:
      return f ? P::FCMP_OLT : u ? P::ICMP_ULT : P::ICMP_SLT;
    case BinOp::Le:
      return f ? P::FCMP_OLE : u ? P::ICMP_ULE : P::ICMP_SLE;
    case BinOp::Gt:
      return f ? P::FCMP_OGT : u ? P::ICMP_UGT : P::ICMP_SGT;
    default:
      return f ? P::FCMP_OGE : u ? P::ICMP_UGE : P::ICMP_SGE;
  }
}

}  // namespace

llvm::Value* Emitter::emit_binary(const ir::Binary& x) {
  const DType operand = x.lhs.type();
  if (operand.is_float()) {
    if (llvm::Value* fused = emit_fused(x)) return fused;
    if (llvm::Value* gated = emit_gated(x)) return gated;
  }
  llvm::Value* a = emit(x.lhs);
  llvm::Value* b = emit(x.rhs);
  if (ir::is_comparison(x.op)) return b_.CreateCmp(predicate(x.op, operand), a, b);
  return operand.is_float() ? emit_float(x.op, a, b) : emit_int(x, a, b);
}

llvm::Value* Emitter::emit_float(BinOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinOp::Add:
      return b_.CreateFAdd(a, b);
    case BinOp::Sub:
      return b_.CreateFSub(a, b);
    case BinOp::Mul:
      return b_.CreateFMul(a, b);
    case BinOp::Div:
      return b_.CreateFDiv(a, b);
    case BinOp::Mod: {
      llvm::Value* quotient = MathBuilder(b_, a->getType(), features_).floor(b_.CreateFDiv(a, b));
      return b_.CreateFSub(a, b_.CreateFMul(quotient, b));
    }
    // The right operand when they cannot be compared: one instruction on x86, and beside a number
    // also where NaN goes before everything.
    case BinOp::Min:
      if (features_.nan_min_max && is_number(a)) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
      }
      return b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b);
    case BinOp::Max:
      if (features_.nan_min_max && is_number(a)) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
      }
      return b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b);
    default:
      CHECK(false, "operator has no meaning for floats");
  }
}

llvm::Value* Emitter::emit_fused(const ir::Binary& x) {
  if (!features_.fma || (x.op != BinOp::Add && x.op != BinOp::Sub)) return nullptr;
  const ir::Binary* left = as_product(x.lhs);
  const ir::Binary* right = left ? nullptr : as_product(x.rhs);
  if (!left && !right) return nullptr;
  const ir::Binary& product = left ? *left : *right;
  llvm::Value* addend = left ? nullptr : emit(x.lhs);
  llvm::Value* a = emit(product.lhs);
  llvm::Value* b = emit(product.rhs);
  if (left) addend = emit(x.rhs);
  if (x.op == BinOp::Sub) {
    if (left) {
      addend = b_.CreateFNeg(addend);
    } else {
      a = b_.CreateFNeg(a);
    }
  }
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, addend});
}

// x sigmoid(x) = x / (1 + e^-x): the division that the sigmoid needs does both.
llvm::Value* Emitter::emit_gated(const ir::Binary& x) {
  if (x.op != BinOp::Mul) return nullptr;
  const ir::Expr* argument = as_gate_of(x.lhs, x.rhs);
  const ir::Expr& factor = argument ? x.lhs : x.rhs;
  if (argument == nullptr) argument = as_gate_of(x.rhs, x.lhs);
  if (argument == nullptr) return nullptr;
  llvm::Value* value = emit(factor);
  return MathBuilder(b_, value->getType(), features_).gate(value, emit(*argument));
}

llvm::Value* Emitter::emit_int(const ir::Binary& x, llvm::Value* a, llvm::Value* b) {
  const bool is_signed = x.lhs.type().kind == ir::TypeKind::Int;
  // Index arithmetic never overflows; saying so helps LLVM's loop passes.
  const bool nsw = in_index_ && x.lhs.type().element() == ir::kIndex;
  switch (x.op) {
    case BinOp::Add:
      return b_.CreateAdd(a, b, "", false, nsw);
    case BinOp::Sub:
      return b_.CreateSub(a, b, "", false, nsw);
    case BinOp::Mul:
      return b_.CreateMul(a, b, "", false, nsw);
    case BinOp::Div:
    case BinOp::Mod:
      return emit_int_division(x, a, b);
    case BinOp::Min:
      return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a,
                                      b);
    case BinOp::Max:
      return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a,
                                      b);
    case BinOp::And:
    case BinOp::BitAnd:
      return b_.CreateAnd(a, b);
    case BinOp::Or:
    case BinOp::BitOr:
      return b_.CreateOr(a, b);
    case BinOp::BitXor:
      return b_.CreateXor(a, b);
    case BinOp::Shl:
    case BinOp::Shr:
      return emit_shift(x.op, a, b, is_signed);
    default:
      CHECK(false, "operator has no meaning for integers");
  }
}

// Shifting by the width or more, or by a negative number, leaves no bit of the value but its sign.
llvm::Value* Emitter::emit_shift(BinOp op, llvm::Value* a, llvm::Value* b, bool is_signed) {
  llvm::Type* type = a->getType();
  llvm::Value* last = llvm::ConstantInt::get(type, type->getScalarSizeInBits() - 1);
  llvm::Value* amount = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, last);
  if (op == BinOp::Shr && is_signed) return b_.CreateAShr(a, amount);
  llvm::Value* shifted = op == BinOp::Shl ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
  return b_.CreateSelect(b_.CreateICmpUGT(b, last), llvm::Constant::getNullValue(type), shifted);
}

// Rounds towards minus infinity. Dividing by zero gives an unspecified value, but no trap.
llvm::Value* Emitter::emit_int_division(const ir::Binary& x, llvm::Value* a, llvm::Value* b) {
  const bool want_quotient = x.op == BinOp::Div;
  const bool is_signed = x.lhs.type().kind == ir::TypeKind::Int;
  const auto divisor = range_of(x.rhs, facts_);
  const ir::Expr scalar =
      ir::as<ir::Broadcast>(x.rhs) ? ir::as<ir::Broadcast>(x.rhs)->value : x.rhs;
  const std::int64_t* value = ir::as_int(scalar);
  llvm::Type* type = a->getType();
  if (value && *value > 0 && (*value & (*value - 1)) == 0) {
    const int shift = __builtin_ctzll(static_cast<unsigned long long>(*value));
    if (!want_quotient) return b_.CreateAnd(a, llvm::ConstantInt::get(type, *value - 1));
    llvm::Value* amount = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(shift));
    return is_signed ? b_.CreateAShr(a, amount) : b_.CreateLShr(a, amount);
  }
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  const bool nonzero = (value && *value != 0) || (divisor && divisor->min > 0);
  const auto dividend = range_of(x.lhs, facts_);
  const bool positive = (value && *value > 0) || (divisor && divisor->min > 0);
  if (!is_signed || (dividend && dividend->min >= 0 && positive)) {
    if (!nonzero) b = b_.CreateSelect(b_.CreateICmpEQ(b, zero), one, b);
    return want_quotient ? b_.CreateUDiv(a, b) : b_.CreateURem(a, b);
  }
  llvm::Value* safe = b;
  if (!nonzero || (value && *value == -1)) {
    // -1 overflows for the smallest dividend; it divides like 1 with the sign turned.
    llvm::Value* minus_one = llvm::Constant::getAllOnesValue(type);
    llvm::Value* special = b_.CreateOr(b_.CreateICmpEQ(b, zero), b_.CreateICmpEQ(b, minus_one));
    safe = b_.CreateSelect(special, one, b);
    a = b_.CreateSelect(b_.CreateICmpEQ(b, minus_one), b_.CreateNeg(a), a);
  }
  llvm::Value* remainder = b_.CreateSRem(a, safe);
  llvm::Value* crossed = b_.CreateAnd(b_.CreateICmpNE(remainder, zero),
                                      b_.CreateICmpSLT(b_.CreateXor(remainder, safe), zero));
  if (!want_quotient) return b_.CreateSelect(crossed, b_.CreateAdd(remainder, safe), remainder);
  llvm::Value* quotient = b_.CreateSDiv(a, safe);
  return b_.CreateSelect(crossed, b_.CreateSub(quotient, one), quotient);
}

llvm::Value* Emitter::emit_math(const ir::Math& x, DType type) {
  const DType operand = x.args[0].type();
  llvm::Value* value = emit(x.args[0]);
  if (x.fn == MathFn::Bitcast) {
    return from_memory(b_.CreateBitCast(to_memory(value, operand), memory_type(type)), type);
  }
  if (!operand.is_float()) return emit_int_math(x.fn, value, operand);
  std::vector<llvm::Value*> args{value};
  for (std::size_t i = 1; i < x.args.size(); ++i) args.push_back(emit(x.args[i]));
  return MathBuilder(b_, args[0]->getType(), features_).call(x.fn, args);
}

llvm::Value* Emitter::emit_int_math(MathFn fn, llvm::Value* value, DType type) {
  llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
  switch (fn) {
    case MathFn::Neg:
      return b_.CreateNeg(value);
    case MathFn::Not:
      return b_.CreateZExt(b_.CreateICmpEQ(value, zero), value->getType());
    case MathFn::BitNot:
      return b_.CreateNot(value);
    case MathFn::Abs:
      if (type.kind != ir::TypeKind::Int) return value;
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b_.getFalse());
    case MathFn::Sign: {
      llvm::Value* positive = b_.CreateZExt(b_.CreateICmpSGT(value, zero), value->getType());
      if (type.kind != ir::TypeKind::Int) {
        return b_.CreateZExt(b_.CreateICmpNE(value, zero), value->getType());
      }
      llvm::Value* negative = b_.CreateZExt(b_.CreateICmpSLT(value, zero), value->getType());
      return b_.CreateSub(positive, negative);
    }
    case MathFn::Floor:
    case MathFn::Ceil:
    case MathFn::Round:
    case MathFn::Trunc:
      return value;
    case MathFn::IsNan:
    case MathFn::IsInf:
      return llvm::Constant::getNullValue(value_type(ir::kBool.with_lanes(type.lanes)));
    default:
      CHECK(false, "a mathematical function of integers: cast the argument to a float first");
  }
}

llvm::Value* Emitter::emit_reduce(const ir::VectorReduce& x) {
  const DType type = x.value.type();
  const DType element = type.element();
  llvm::Value* value = emit(x.value);
  const auto combine = [&](llvm::Value* a, llvm::Value* b) {
    if (element.is_float()) return emit_float(x.op, a, b);
    // Operand types decide about signedness, so plain expressions of the element type will do.
    return emit_int({x.op, ir::zero_of(element), ir::zero_of(element)}, a, b);
  };
  int lanes = type.lanes;
  while (lanes > 1 && lanes % 2 == 0) {
    std::vector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    value = combine(b_.CreateShuffleVector(value, low), b_.CreateShuffleVector(value, high));
    lanes /= 2;
  }
  if (llvm::isa<llvm::FixedVectorType>(value->getType())) {
    llvm::Value* total = b_.CreateExtractElement(value, std::uint64_t{0});
    for (int i = 1; i < lanes; ++i) {
      total = combine(total, b_.CreateExtractElement(value, static_cast<std::uint64_t>(i)));
    }
    value = total;
  }
  return value;
}

}  // namespace attune::cpu
