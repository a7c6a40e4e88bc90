#include "targets/cpu/codegen/math.h"

#include "base/check.h"

namespace attune::cpu {
namespace {

using ir::MathFn;

llvm::Type* integers_like(llvm::Type* type) {
  auto* element = llvm::Type::getIntNTy(type->getContext(), type->getScalarSizeInBits());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements())
                : static_cast<llvm::Type*>(element);
}

}  // namespace

MathBuilder::MathBuilder(llvm::IRBuilder<>& b, llvm::Type* type, CpuFeatures features)
    : b_(b), type_(type), int_type_(integers_like(type)), features_(features) {}

llvm::Value* MathBuilder::fma(Value x, Value y, Value z) {
  if (features_.fma) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
  return add(mul(x, y), z);
}

llvm::Value* MathBuilder::unary(llvm::Intrinsic::ID id, Value x) {
  return b_.CreateUnaryIntrinsic(id, x);
}

llvm::Value* MathBuilder::copy_sign(Value magnitude, Value sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Value* MathBuilder::clamp(Value x, double low, double high) {
  if (features_.nan_min_max) {
    Value below = b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, c(high));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, below, c(low));
  }
  // One instruction each on x86; a NaN fails both comparisons.
  Value below = select(less(c(high), x), c(high), x);
  return select(less(below, c(low)), c(low), below);
}

llvm::Value* MathBuilder::polynomial(Value x, std::span<const double> coefficients) {
  Value sum = c(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, c(coefficients[i]));
  return sum;
}

MathBuilder::Rounded MathBuilder::nearest(Value x) {
  // Adding 1.5 * 2^(mantissa bits) leaves the integer in the low bits of the sum.
  Value magic = c(is_double() ? 0x1.8p52 : 0x1.8p23);
  Value sum = add(x, magic);
  return {sub(sum, magic), b_.CreateSub(bits(sum), bits(magic))};
}

llvm::Value* MathBuilder::scale(Value x, Value n) {
  const int mantissa = is_double() ? 52 : 23;
  const int bias = is_double() ? 1023 : 127;
  const auto power = [&](Value k) {
    return from_bits(b_.CreateShl(b_.CreateAdd(k, ci(bias)), ci(mantissa)));
  };
  Value half = b_.CreateAShr(n, ci(1));
  return mul(mul(x, power(half)), power(b_.CreateSub(n, half)));
}

llvm::Value* MathBuilder::floor(Value x) { return round_to_integer(MathFn::Floor, x); }

llvm::Value* MathBuilder::round_to_integer(MathFn fn, Value x) {
  if (features_.round) {
    switch (fn) {
      case MathFn::Floor:
        return unary(llvm::Intrinsic::floor, x);
      case MathFn::Ceil:
        return unary(llvm::Intrinsic::ceil, x);
      case MathFn::Trunc:
        return unary(llvm::Intrinsic::trunc, x);
      default:
        return unary(llvm::Intrinsic::roundeven, x);
    }
  }
  // Values of at least 2^(mantissa bits) are integers already; smaller ones are rounded by adding
  // and taking away that number.
  Value limit = c(is_double() ? 0x1p52 : 0x1p23);
  Value magnitude = abs(x);
  Value rounded = copy_sign(sub(add(magnitude, limit), limit), x);
  if (fn == MathFn::Floor) {
    rounded = select(less(x, rounded), sub(rounded, c(1)), rounded);
  } else if (fn == MathFn::Ceil) {
    rounded = select(less(rounded, x), add(rounded, c(1)), rounded);
  } else if (fn == MathFn::Trunc) {
    Value toward = select(less(magnitude, abs(rounded)), sub(abs(rounded), c(1)), abs(rounded));
    rounded = toward;
  }
  return select(less(magnitude, limit), copy_sign(rounded, x), x);
}

llvm::Value* MathBuilder::sign_of(Value x) {
  Value one = copy_sign(c(1), x);
  Value zero_or_nan = b_.CreateFCmpUEQ(x, c(0));
  return select(zero_or_nan, x, one);
}

llvm::Value* MathBuilder::in_double(MathFn fn, std::span<const Value> args) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  llvm::Type* wide = b_.getDoubleTy();
  if (vector) wide = llvm::FixedVectorType::get(wide, vector->getNumElements());
  std::vector<Value> widened;
  for (Value arg : args) widened.push_back(b_.CreateFPExt(arg, wide));
  return b_.CreateFPTrunc(MathBuilder(b_, wide, features_).call(fn, widened), type_);
}

llvm::Value* MathBuilder::call(MathFn fn, std::span<const Value> args) {
  Value x = args[0];
  switch (fn) {
    case MathFn::Neg:
      return b_.CreateFNeg(x);
    case MathFn::Abs:
      return abs(x);
    case MathFn::Sign:
      return sign_of(x);
    case MathFn::Floor:
    case MathFn::Ceil:
    case MathFn::Round:
    case MathFn::Trunc:
      return round_to_integer(fn, x);
    case MathFn::Sqrt:
      return sqrt(x);
    case MathFn::Rsqrt:
      return div(c(1), sqrt(x));
    case MathFn::Exp:
      return exp(x);
    case MathFn::Log:
      return log(x);
    case MathFn::Sigmoid:
      return sigmoid(x);
    case MathFn::Tanh:
      return tanh(x);
    case MathFn::Erf:
      return erf(x);
    case MathFn::Fma:
      return fma(x, args[1], args[2]);
    case MathFn::IsNan:
      return b_.CreateFCmpUNO(x, x);
    case MathFn::IsInf:
      return b_.CreateFCmpOEQ(abs(x), llvm::ConstantFP::getInfinity(type_));
    default:
      return is_double() ? call_double(fn, args) : in_double(fn, args);
  }
}

llvm::Value* MathBuilder::call_double(MathFn fn, std::span<const Value> args) {
  Value x = args[0];
  switch (fn) {
    case MathFn::Sin:
      return sine_or_cosine(x, false);
    case MathFn::Cos:
      return sine_or_cosine(x, true);
    case MathFn::Tan:
      return div(sine_or_cosine(x, false), sine_or_cosine(x, true));
    case MathFn::Asin:
      return asin(x);
    case MathFn::Acos:
      return acos(x);
    case MathFn::Atan:
      return atan(x);
    case MathFn::Sinh:
      return sinh(x);
    case MathFn::Cosh:
      return cosh(x);
    case MathFn::Asinh:
      return asinh(x);
    case MathFn::Acosh:
      return acosh(x);
    case MathFn::Atanh:
      return atanh(x);
    case MathFn::Pow:
      return pow(x, args[1]);
    default:
      CHECK(false, "the function has no meaning for floats");
  }
}

}  // namespace attune::cpu
