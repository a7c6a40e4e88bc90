// The exponential family; f32 where it is as good as f64, the most frequent ones in
// math_single.cpp. Polynomials are Taylor series where these converge fast enough, Chebyshev fits
// otherwise.
#include <array>
#include <numbers>

#include "targets/cpu/codegen/math.h"

namespace attune::cpu {
namespace {

// exp(r) = 1 + r + r^2 P(r) for |r| <= ln(2) / 2.
constexpr double kExp64[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                             1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                             1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

// log(m) = 2 s (1 + s^2 / 3 + s^4 / 5 + …) with s = (m - 1) / (m + 1).
constexpr double kLog32[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9};
constexpr double kLog64[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                             2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};

// sinh(x) = x (1 + u / 3! + u^2 / 5! + …), u = x^2, |x| <= 1.
constexpr double kSinh[] = {1.0,
                            1.0 / 6,
                            1.0 / 120,
                            1.0 / 5040,
                            1.0 / 362880,
                            1.0 / 39916800,
                            1.0 / 6227020800,
                            1.0 / 1307674368000,
                            1.0 / 355687428096000};

// erf(x) = x P(x^2) for |x| <= 1.
constexpr double kErfSmall64[] = {
    1.12837916709551257,     -0.376126389031837524,     0.112837916709551202,
    -0.0268661706451298408,  0.00522397762542329831,    -0.00085483270219348296,
    0.000120553329028887354, -0.0000149256475675193321, 1.64620454414684189e-6,
    -1.63646421581676153e-7, 1.4792401209404813e-8,     -1.21645600572834501e-9,
    8.70904512905310669e-11, -4.23094582429533782e-12};
// exp(x^2) (1 - erf(x)) as a polynomial of (x - 2) / (x + 2) for 1 <= x <= 6.
constexpr double kErfLarge64[] = {
    0.255395676310505716,      -0.427185847413958492,    0.241658194242487627,
    -0.0789785810157126937,    0.00373289240165644815,   0.00699746173920057474,
    -0.000847143122941533342,  -0.000981977111474071531, 0.0000435526535981788277,
    0.000174364772572567369,   0.0000275603527566783132, -0.0000276407278219128536,
    -0.0000141663390691171082, 1.85942738742940198e-6,   4.14630218326848772e-6,
    -2.22812957637235017e-7};

}  // namespace

llvm::Value* MathBuilder::exp(Value x) {
  if (!is_double()) return exp_single(x);
  // Beyond these the result is 0 or infinity.
  Value inside = clamp(x, -746, 710);
  const auto [n, integer] = nearest(mul(inside, c(std::numbers::log2e)));
  // ln(2) in two parts: n times the first one is exact.
  Value r = fma(n, c(-0.693147180601954460144043), inside);
  r = fma(n, c(4.200915072681084597935359e-11), r);
  Value tail = fma(mul(r, r), polynomial(r, kExp64), r);
  return scale(add(tail, c(1)), integer);
}

llvm::Value* MathBuilder::log(Value x) {
  const int mantissa = is_double() ? 52 : 23;
  const double smallest = is_double() ? 0x1p-1022 : 0x1p-126;
  const int lift = is_double() ? 54 : 25;
  Value subnormal = less(x, c(smallest));
  Value lifted = select(subnormal, mul(x, c(is_double() ? 0x1p54 : 0x1p25)), x);
  // Splits off the exponent so that the mantissa lies around 1, between sqrt(1/2) and sqrt(2).
  const std::int64_t root_half =
      is_double() ? std::int64_t{0x3fe6a09e667f3bcd} : std::int64_t{0x3f3504f3};
  Value shifted = b_.CreateSub(bits(lifted), ci(root_half));
  Value exponent = b_.CreateAShr(shifted, ci(mantissa));
  Value m = from_bits(b_.CreateSub(bits(lifted), b_.CreateShl(exponent, ci(mantissa))));
  exponent = b_.CreateSub(exponent, b_.CreateSelect(subnormal, ci(lift), ci(0)));
  Value e = b_.CreateSIToFP(exponent, type_);
  Value f = sub(m, c(1));
  Value s = div(f, add(m, c(1)));
  Value u = mul(s, s);
  const auto coefficients =
      is_double() ? std::span<const double>(kLog64) : std::span<const double>(kLog32);
  Value series = mul(u, polynomial(u, coefficients));
  // 2 s = f - s f: the large part of the sum is exact that way.
  Value tail = fma(
      s, sub(series, f),
      mul(e, c(is_double() ? -4.200915072681084597935359e-11 : 0.00003194618329871445894241333)));
  Value result =
      add(mul(e, c(is_double() ? 0.693147180601954460144043 : 0.693115234375)), add(f, tail));
  Value infinity = llvm::ConstantFP::getInfinity(type_);
  result = select(b_.CreateFCmpOEQ(x, infinity), infinity, result);
  result = select(b_.CreateFCmpOEQ(x, c(0)), b_.CreateFNeg(infinity), result);
  Value undefined = b_.CreateFCmpULT(x, c(0));
  return select(undefined, llvm::ConstantFP::getNaN(type_), result);
}

llvm::Value* MathBuilder::log1p(Value x) {
  // log(w) x / (w - 1) cancels the rounding of w = 1 + x.
  Value w = add(x, c(1));
  Value corrected = mul(log(w), div(x, sub(w, c(1))));
  Value plain = b_.CreateOr(b_.CreateFCmpOEQ(w, llvm::ConstantFP::getInfinity(type_)),
                            b_.CreateFCmpULE(w, c(0)));
  corrected = select(plain, log(w), corrected);
  return select(b_.CreateFCmpOEQ(w, c(1)), x, corrected);
}

llvm::Value* MathBuilder::sigmoid(Value x) {
  if (!is_double()) return gate(c(1), x);
  // With the negative exponent nothing overflows, and small results keep their digits.
  Value e = exp(b_.CreateFNeg(abs(x)));
  Value top = select(less(x, c(0)), e, c(1));
  return select(b_.CreateFCmpUNO(x, x), x, div(top, add(e, c(1))));
}

llvm::Value* MathBuilder::tanh(Value x) {
  if (!is_double()) return tanh_single(x);
  Value magnitude = abs(x);
  Value e = exp(add(magnitude, magnitude));
  Value large = copy_sign(sub(c(1), div(c(2), add(e, c(1)))), x);
  Value is_small = less(magnitude, c(1));
  Value s = sinh_small(select(is_small, x, c(0)));
  return select(is_small, div(s, sqrt(fma(s, s, c(1)))), large);
}

llvm::Value* MathBuilder::erf(Value x) {
  if (!is_double()) return erf_single(x);
  Value magnitude = abs(x);
  Value is_small = less(magnitude, c(1));
  Value small = mul(x, polynomial(select(is_small, mul(x, x), c(0)), kErfSmall64));
  Value bounded = select(less(c(6), magnitude), c(6), magnitude);
  Value t = div(sub(bounded, c(2)), add(bounded, c(2)));
  Value complement = mul(exp(b_.CreateFNeg(mul(bounded, bounded))), polynomial(t, kErfLarge64));
  Value large = copy_sign(sub(c(1), complement), x);
  return select(is_small, small, select(b_.CreateFCmpUNO(x, x), x, large));
}

llvm::Value* MathBuilder::sinh_small(Value x) { return mul(x, polynomial(mul(x, x), kSinh)); }

llvm::Value* MathBuilder::sinh(Value x) {
  Value magnitude = abs(x);
  Value is_small = less(magnitude, c(1));
  // exp(|x|) as a square, so that it overflows only where the result does.
  Value root = exp(mul(magnitude, c(0.5)));
  Value grown = mul(mul(root, c(0.5)), root);
  Value large = copy_sign(sub(grown, div(c(0.25), grown)), x);
  return select(is_small, sinh_small(select(is_small, x, c(0))), large);
}

llvm::Value* MathBuilder::cosh(Value x) {
  Value root = exp(mul(abs(x), c(0.5)));
  Value grown = mul(mul(root, c(0.5)), root);
  return add(grown, div(c(0.25), grown));
}

llvm::Value* MathBuilder::asinh(Value x) {
  Value magnitude = abs(x);
  Value huge = less(c(0x1p28), magnitude);
  Value moderate = select(huge, c(1), magnitude);
  Value square = mul(moderate, moderate);
  Value root = sqrt(add(square, c(1)));
  Value near = log1p(add(moderate, div(square, add(root, c(1)))));
  Value far = add(log(magnitude), c(std::numbers::ln2));
  return select(b_.CreateFCmpUNO(x, x), x, copy_sign(select(huge, far, near), x));
}

llvm::Value* MathBuilder::acosh(Value x) {
  Value huge = less(c(0x1p28), x);
  Value t = sub(select(huge, c(2), x), c(1));
  Value near = log1p(add(t, sqrt(mul(t, add(t, c(2))))));
  Value far = add(log(x), c(std::numbers::ln2));
  return select(b_.CreateFCmpULT(x, c(1)), llvm::ConstantFP::getNaN(type_),
                select(huge, far, near));
}

llvm::Value* MathBuilder::atanh(Value x) {
  Value magnitude = abs(x);
  Value ratio = div(add(magnitude, magnitude), sub(c(1), magnitude));
  Value result = copy_sign(mul(log1p(ratio), c(0.5)), x);
  Value undefined = b_.CreateFCmpUGT(magnitude, c(1));
  return select(undefined, llvm::ConstantFP::getNaN(type_), result);
}

llvm::Value* MathBuilder::pow(Value x, Value y) {
  Value magnitude = abs(x);
  Value power = exp(mul(y, log(magnitude)));
  // Whole numbers up to 2^53 may be odd; larger ones are even.
  Value is_whole = b_.CreateFCmpOEQ(floor(y), y);
  Value half = mul(y, c(0.5));
  Value is_odd = b_.CreateAnd(is_whole, b_.CreateFCmpUNE(floor(half), half));
  Value negative = b_.CreateICmpSLT(bits(x), ci(0));
  power = select(b_.CreateAnd(negative, is_odd), b_.CreateFNeg(power), power);
  Value infinity = llvm::ConstantFP::getInfinity(type_);
  Value finite_negative = b_.CreateAnd(less(x, c(0)), b_.CreateFCmpUNE(magnitude, infinity));
  Value undefined = b_.CreateAnd(
      finite_negative, b_.CreateAnd(b_.CreateNot(is_whole), b_.CreateFCmpUNE(abs(y), infinity)));
  power = select(undefined, llvm::ConstantFP::getNaN(type_), power);
  // 1^y and x^0 are 1 whatever the other is; (-1)^(+-inf) is 1.
  Value one = b_.CreateOr(b_.CreateFCmpOEQ(x, c(1)), b_.CreateFCmpOEQ(y, c(0)));
  Value unit_to_infinity =
      b_.CreateAnd(b_.CreateFCmpOEQ(magnitude, c(1)), b_.CreateFCmpOEQ(abs(y), infinity));
  return select(b_.CreateOr(one, unit_to_infinity), c(1), power);
}

}  // namespace attune::cpu
