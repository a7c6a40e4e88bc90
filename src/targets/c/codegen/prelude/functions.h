/* Mathematical functions of one element. Those of f32 that models use in bulk are range reduction
 * and a polynomial without a branch, so that a loop over lanes becomes vector code; errors stay
 * below 4 ulp. The others are the C library's, in double precision and rounded once. Infinities,
 * NaN and overflow come out as in C. */
#ifndef ATTUNE_FUNCTIONS_H
#define ATTUNE_FUNCTIONS_H

#include <math.h>

static inline float at_exp_f32(float x) {
  /* Beyond these the result is 0 or infinity; a NaN passes both comparisons. */
  const float below = x > 89.0f ? 89.0f : x, inside = below < -104.0f ? -104.0f : below;
  /* Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the sum. */
  const float magic = 0x1.8p23f, sum = inside * 1.44269504088896341f + magic, n = sum - magic;
  const uint32_t k = at_bits_of_u32_f32(sum) - at_bits_of_u32_f32(magic);
  /* ln(2) in two parts: n times the first one is exact. */
  const float r = (inside - n * 0.693115234375f) - n * 0.0000319461832987144589f;
  const float p = 0.500000001369255743f +
                  r * (0.166666666818750513f +
                       r * (0.041666462666195951f +
                            r * (0.00833331067460318772f +
                                 r * (0.00139339000500400865f + r * 0.000198912685101072845f))));
  const float value = (r * r * p + r) + 1.0f;
  /* Times 2^k in two steps, so that it overflows and underflows as it should. */
  const uint32_t half = (k >> 1) | (k & 0x80000000u), rest = k - half;
  return value * at_bits_of_f32_u32((half + 127u) << 23) * at_bits_of_f32_u32((rest + 127u) << 23);
}

static inline float at_log_f32(float x) {
  const int subnormal = x < 0x1p-126f;
  const float lifted = subnormal ? x * 0x1p25f : x;
  /* Splits off the exponent so that the mantissa lies between sqrt(1/2) and sqrt(2). */
  const int32_t bits = (int32_t)(at_bits_of_u32_f32(lifted) - 0x3f3504f3u);
  const int32_t exponent = bits >> 23;
  const float m = at_bits_of_f32_u32(at_bits_of_u32_f32(lifted) - ((uint32_t)exponent << 23));
  const float e = (float)(exponent - (subnormal ? 25 : 0));
  const float f = m - 1.0f, s = f / (m + 1.0f), u = s * s;
  const float series = u * (0.666666667f + u * (0.4f + u * (0.285714286f + u * 0.222222222f)));
  const float tail = s * (series - f) + e * 0.0000319461832987144589f;
  const float result = e * 0.693115234375f + (f + tail);
  const float positive = x == INFINITY ? INFINITY : x == 0.0f ? -INFINITY : result;
  return x >= 0.0f ? positive : NAN;
}

static inline float at_sigmoid_f32(float x) {
  /* With the negative exponent nothing overflows, and small results keep their digits. */
  const float e = at_exp_f32(-fabsf(x)), top = x < 0.0f ? e : 1.0f;
  return x != x ? x : top / (e + 1.0f);
}

static inline float at_tanh_f32(float x) {
  const float a = fabsf(x), e = at_exp_f32(a + a);
  const float large = copysignf(1.0f - 2.0f / (e + 1.0f), x);
  const float b = a < 0.625f ? x : 0.0f, u = b * b;
  const float p = -0.333333331721403616f +
                  u * (0.133333035569157418f +
                       u * (-0.0539592595772045427f +
                            u * (0.0217689186510282102f +
                                 u * (-0.00834394551583915205f + u * 0.00229274481617814234f))));
  return a < 0.625f ? b * u * p + b : large;
}

static inline float at_erf_f32(float x) {
  /* A quotient of polynomials up to where the result is 1; nothing in them cancels. */
  const float below = x > 3.92f ? 3.92f : x, b = below < -3.92f ? -3.92f : below, u = b * b;
  const float top =
      1.12837911f +
      u * (0.191550016f +
           u * (0.052875407f + u * (0.00380814937f + u * (0.000284687645f + u * 2.02591332e-06f))));
  const float bottom =
      1.0f +
      u * (0.503089428f +
           u * (0.114559501f + u * (0.015055066f + u * (0.00117072312f + u * 3.78318473e-05f))));
  return b * top / bottom;
}

static inline float at_sign_f32(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
static inline double at_sign_f64(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }
static inline float at_rsqrt_f32(float x) { return 1.0f / sqrtf(x); }
static inline double at_rsqrt_f64(double x) { return 1.0 / sqrt(x); }
static inline double at_sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
static inline float at_pow_f32(float x, float y) { return (float)pow((double)x, (double)y); }
static inline double at_pow_f64(double x, double y) { return pow(x, y); }
static inline float at_fma_f32(float a, float b, float c) { return fmaf(a, b, c); }
static inline double at_fma_f64(double a, double b, double c) { return fma(a, b, c); }

/* Those that C has in both precisions, and those that f32 borrows from f64. */
#define AT_BOTH(name, function)                                           \
  static inline float at_##name##_f32(float x) { return function##f(x); } \
  static inline double at_##name##_f64(double x) { return function(x); }
#define AT_IN_DOUBLE(name)                                                        \
  static inline float at_##name##_f32(float x) { return (float)name((double)x); } \
  static inline double at_##name##_f64(double x) { return name(x); }
AT_BOTH(abs, fabs)
AT_BOTH(floor, floor)
AT_BOTH(ceil, ceil)
AT_BOTH(trunc, trunc)
AT_BOTH(round, rint)
AT_BOTH(sqrt, sqrt)
AT_IN_DOUBLE(sin)
AT_IN_DOUBLE(cos)
AT_IN_DOUBLE(tan)
AT_IN_DOUBLE(asin)
AT_IN_DOUBLE(acos)
AT_IN_DOUBLE(atan)
AT_IN_DOUBLE(sinh)
AT_IN_DOUBLE(cosh)
AT_IN_DOUBLE(asinh)
AT_IN_DOUBLE(acosh)
AT_IN_DOUBLE(atanh)
static inline double at_exp_f64(double x) { return exp(x); }
static inline double at_log_f64(double x) { return log(x); }
static inline double at_tanh_f64(double x) { return tanh(x); }
static inline double at_erf_f64(double x) { return erf(x); }

#endif
