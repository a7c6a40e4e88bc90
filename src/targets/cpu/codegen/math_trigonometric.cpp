// Sine, cosine and the inverse functions, in f64.
#include <numbers>

#include "targets/cpu/codegen/math.h"

namespace attune::cpu {
namespace {

// sin(r) = r (1 + u P(u)), cos(r) = 1 + u Q(u), u = r^2, |r| <= pi / 4: Taylor series.
constexpr double kSine[] = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
constexpr double kCosine[] = {
    -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
    -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
// atan(t) = t (1 + u P(u)), u = t^2, |t| <= tan(pi / 8): a Chebyshev fit.
constexpr double kArcTangent[] = {
    -0.333333333333333332,  0.199999999999998045,  -0.142857142856598247,  0.111111111051551635,
    -0.0909090875348678983, 0.0769229637462484134, -0.0666642487842277619, 0.0587892891372161595,
    -0.0523045365115033461, 0.0455159039475938707, -0.0345704893058677504, 0.0162856763140844155};
// Larger arguments of sin and cos are not reduced correctly.
constexpr double kLargestAngle = 0x1p45;

}  // namespace

llvm::Value* MathBuilder::sine_or_cosine(Value x, bool cosine) {
  Value bounded = select(less(abs(x), c(kLargestAngle)), x, mul(x, c(0)));
  const auto [n, quadrant] = nearest(mul(bounded, c(2 / std::numbers::pi)));
  // pi / 2 in two parts (Cody and Waite); n times the first is exact within the fused operation.
  Value r = fma(n, c(-1.570796326794896558), bounded);
  r = fma(n, c(-6.1232339957367660359e-17), r);
  Value u = mul(r, r);
  Value sine = fma(mul(r, u), polynomial(u, kSine), r);
  Value cosines = fma(u, polynomial(u, kCosine), c(1));
  Value turn = cosine ? b_.CreateAdd(quadrant, ci(1)) : quadrant;
  Value odd = b_.CreateICmpNE(b_.CreateAnd(turn, ci(1)), ci(0));
  Value value = select(odd, cosines, sine);
  Value flip = b_.CreateShl(b_.CreateAnd(turn, ci(2)), ci(62));
  return from_bits(b_.CreateXor(bits(value), flip));
}

llvm::Value* MathBuilder::atan(Value x) {
  Value magnitude = abs(x);
  Value inverted = less(c(1), magnitude);
  Value y = select(inverted, div(c(1), magnitude), magnitude);
  Value turned = less(c(0.41421356237309503), y);
  Value t = select(turned, div(sub(y, c(1)), add(y, c(1))), y);
  Value u = mul(t, t);
  Value angle = fma(mul(t, u), polynomial(u, kArcTangent), t);
  angle = select(turned, add(angle, c(std::numbers::pi / 4)), angle);
  angle = select(inverted, sub(c(std::numbers::pi / 2), angle), angle);
  return copy_sign(angle, x);
}

llvm::Value* MathBuilder::asin(Value x) {
  return atan(div(x, sqrt(mul(sub(c(1), x), add(c(1), x)))));
}

llvm::Value* MathBuilder::acos(Value x) {
  Value half = atan(sqrt(div(sub(c(1), x), add(c(1), x))));
  return add(half, half);
}

}  // namespace attune::cpu
