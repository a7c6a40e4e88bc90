// The functions of f32 that models compute in bulk: as few instructions as the error allows, which
// is below 4 ulp; of tanh and erf, where they are above 1/2, below 4e-7. Polynomials and quotients
// of polynomials are minimax fits of the relative error.
#include <llvm/IR/IntrinsicsX86.h>

#include <numbers>

#include "targets/cpu/codegen/math.h"

namespace attune::cpu {
namespace {

// exp(r) = 1 + r + r^2 P(r), for |r| <= ln(2) / 2 and for |r| <= ln(2).
constexpr double kExp[] = {1, 1, 0.49999230302, 0.16667115386, 0.04189033231, 0.00831250178};
constexpr double kExpWide[] = {1,
                               1,
                               0.5000003463759,
                               0.1666661414882,
                               0.0416612684189,
                               0.0083361031698,
                               0.0014104470046,
                               0.00019611598986};
// ln(2) in two parts: small multiples of the first one are exact.
constexpr double kLn2High = 0.693115234375, kLn2Low = 0.00003194618329871445894241333;
// Adding it leaves the nearest integer in the low bits of the sum, with the exponent's bias.
constexpr double kMagic = 0x1.8p23 + 127;

// tanh(x) = x P(x^2) / Q(x^2) up to where it is 1; without negative coefficients nothing cancels.
// The last digits are those that round best together.
constexpr double kTanhEnd = 8.6;
constexpr double kTanhNumerator[] = {1, 0.134068772, 0.00352640217, 2.11223814e-05, 1.40825236e-08};
constexpr double kTanhDenominator[] = {1, 0.467401922, 0.0259939041, 0.000333627046,
                                       8.07065021e-07};

// erf(x) likewise.
constexpr double kErfEnd = 3.92;
constexpr double kErfNumerator[] = {1.12837911,    0.191550016,    0.052875407,
                                    0.00380814937, 0.000284687645, 2.02591332e-06};
constexpr double kErfDenominator[] = {1,           0.503089428,   0.114559501,
                                      0.015055066, 0.00117072312, 3.78318473e-05};

// Whether there is an instruction for x * 2^n on vectors of so many f32.
bool has_scale(const CpuFeatures& features, llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  return features.scale && (lanes == 4 || lanes == 8 || lanes == 16);
}

}  // namespace

MathBuilder::Reduced MathBuilder::reduce_exponent(Value x, int sign, int step) {
  Value sum = fma(x, c(sign * std::numbers::log2e / step), c(kMagic));
  Value n = sub(sum, c(kMagic));
  Value rest = fma(n, c(-sign * step * kLn2High), x);
  return {fma(n, c(-sign * step * kLn2Low), rest), n, bits(sum)};
}

llvm::Value* MathBuilder::power_of_two(Value sum) { return from_bits(b_.CreateShl(sum, ci(23))); }

llvm::Value* MathBuilder::scale_by_instruction(Value x, Value n) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type_)->getNumElements();
  Value all = llvm::ConstantInt::get(b_.getIntNTy(std::max(lanes, 8u)), -1, true);
  if (lanes == 16) {
    Value current_rounding = b_.getInt32(4);
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {x, n, x, all, current_rounding});
  }
  const auto id = lanes == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                             : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
  return b_.CreateIntrinsic(id, {}, {x, n, x, all});
}

llvm::Value* MathBuilder::exp_single(Value x) {
  // Beyond these the result is 0 or infinity. What is 0 is not computed: many processors take a
  // hundred times as long for a result that is too small.
  Value is_more = b_.CreateFCmpUGE(x, c(-104));
  Value inside = select(is_more, select(less(c(89), x), c(89), x), c(0));
  if (has_scale(features_, type_)) {
    const Reduced reduced = reduce_exponent(inside, 1, 1);
    Value power = scale_by_instruction(polynomial(reduced.rest, kExp), reduced.n);
    return select(is_more, power, c(0));
  }
  // The square of a power of two reaches everywhere, and rounds once where the result is subnormal.
  const Reduced reduced = reduce_exponent(inside, 1, 2);
  Value power = power_of_two(reduced.sum);
  return select(is_more, mul(mul(polynomial(reduced.rest, kExpWide), power), power), c(0));
}

llvm::Value* MathBuilder::exp_of_negative(Value x) {
  // From where it is lost in a sum with 1 to where it is infinite.
  const Reduced reduced = reduce_exponent(clamp(x, -89, 87), -1, 1);
  double coefficients[std::size(kExp)];
  for (std::size_t i = 0; i < std::size(kExp); ++i) coefficients[i] = i % 2 ? -kExp[i] : kExp[i];
  Value p = polynomial(reduced.rest, coefficients);
  if (has_scale(features_, type_)) return scale_by_instruction(p, reduced.n);
  return mul(p, power_of_two(reduced.sum));
}

llvm::Value* MathBuilder::gate(Value y, Value x) {
  if (is_double()) return mul(y, sigmoid(x));
  return div(y, add(exp_of_negative(x), c(1)));
}

llvm::Value* MathBuilder::tanh_single(Value x) {
  Value bounded = clamp(x, -kTanhEnd, kTanhEnd);
  Value u = mul(bounded, bounded);
  Value top = mul(bounded, polynomial(u, kTanhNumerator));
  // Rounding must not take it beyond 1, where its inverse ends.
  return clamp(div(top, polynomial(u, kTanhDenominator)), -1, 1);
}

llvm::Value* MathBuilder::erf_single(Value x) {
  Value bounded = clamp(x, -kErfEnd, kErfEnd);
  Value u = mul(bounded, bounded);
  return div(mul(bounded, polynomial(u, kErfNumerator)), polynomial(u, kErfDenominator));
}

}  // namespace attune::cpu
