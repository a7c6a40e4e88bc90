// Mathematical functions written out as LLVM IR on scalars and vectors, without a library: range
// reduction and polynomials. f32: exp, log, tanh, sigmoid and erf work in f32, all other functions
// in f64 and round once; errors stay below 4 ulp, but for tanh and erf where they are above 1/2:
// below 4e-7. f64: relative error below 1e-12. Infinities, NaN, subnormals and overflow come out as
// in C, but for subnormal results of sigmoid, which may be 0.
// sin, cos and tan reduce arguments up to 2^45; beyond that the result is that of 0.
#pragma once

#include <initializer_list>
#include <span>

#include <llvm/IR/IRBuilder.h>
#include "compiler/ir/nodes/expr.h"
#include "targets/cpu/codegen/machine.h"

namespace attune::cpu {

// Operations on values of one float type (f32 or f64, any lanes).
class MathBuilder {
 public:
  using Value = llvm::Value*;

  MathBuilder(llvm::IRBuilder<>& b, llvm::Type* type, CpuFeatures features);

  Value call(ir::MathFn fn, std::span<const Value> args);
  Value floor(Value x);
  // y sigmoid(x), for y no larger than about x.
  Value gate(Value y, Value x);

 private:
  bool is_double() const { return type_->getScalarType()->isDoubleTy(); }

  // math.cpp: building blocks
  Value c(double value) const { return llvm::ConstantFP::get(type_, value); }
  Value ci(std::int64_t value) const { return llvm::ConstantInt::get(int_type_, value, true); }
  Value bits(Value x) { return b_.CreateBitCast(x, int_type_); }
  Value from_bits(Value x) { return b_.CreateBitCast(x, type_); }
  Value add(Value x, Value y) { return b_.CreateFAdd(x, y); }
  Value sub(Value x, Value y) { return b_.CreateFSub(x, y); }
  Value mul(Value x, Value y) { return b_.CreateFMul(x, y); }
  Value div(Value x, Value y) { return b_.CreateFDiv(x, y); }
  Value select(Value condition, Value x, Value y) { return b_.CreateSelect(condition, x, y); }
  Value less(Value x, Value y) { return b_.CreateFCmpOLT(x, y); }
  Value fma(Value x, Value y, Value z);
  Value unary(llvm::Intrinsic::ID id, Value x);
  Value abs(Value x) { return unary(llvm::Intrinsic::fabs, x); }
  Value sqrt(Value x) { return unary(llvm::Intrinsic::sqrt, x); }
  Value copy_sign(Value magnitude, Value sign);
  Value clamp(Value x, double low, double high);  // a NaN stays one
  // c[0] + c[1] x + c[2] x^2 + …
  Value polynomial(Value x, std::span<const double> coefficients);
  // x rounded to the nearest integer, as a float and as an integer; |x| below 2^22 or 2^51.
  struct Rounded {
    Value value;
    Value integer;
  };
  Rounded nearest(Value x);
  // x * 2^n for any n that can matter, with correct overflow and gradual underflow.
  Value scale(Value x, Value n);
  Value round_to_integer(ir::MathFn fn, Value x);
  Value sign_of(Value x);
  // The function in f64, for an f32 argument.
  Value in_double(ir::MathFn fn, std::span<const Value> args);
  // Of functions that have an algorithm for f64 alone.
  Value call_double(ir::MathFn fn, std::span<const Value> args);

  // math_single.cpp, f32 only
  // x = rest + sign n step ln(2); the sum has n + 127 in its low bits.
  struct Reduced {
    Value rest;
    Value n;
    Value sum;
  };
  Reduced reduce_exponent(Value x, int sign, int step);
  Value power_of_two(Value sum);  // 2^n, infinity for n = 128
  Value scale_by_instruction(Value x, Value n);
  Value exp_single(Value x);
  Value exp_of_negative(Value x);  // to be added to 1
  Value tanh_single(Value x);
  Value erf_single(Value x);

  // math_exponential.cpp
  Value exp(Value x);
  Value log(Value x);
  Value log1p(Value x);  // f64 only
  Value sigmoid(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sinh_small(Value x);  // |x| <= 1
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value pow(Value x, Value y);

  // math_trigonometric.cpp, f64 only
  Value sine_or_cosine(Value x, bool cosine);
  Value atan(Value x);
  Value asin(Value x);
  Value acos(Value x);

  llvm::IRBuilder<>& b_;
  llvm::Type* type_;
  llvm::Type* int_type_;  // integers of the same width and lanes
  CpuFeatures features_;
};

}  // namespace attune::cpu
