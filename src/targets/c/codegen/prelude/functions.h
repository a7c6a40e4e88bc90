/* Mathematical functions of one element. Those of f32 that models use in bulk are range reduction
 * and a polynomial without a branch, so that a loop over lanes becomes vector code; errors stay
 * below 4 ulp, but for tanh and erf where they are above 1/2: below 4e-7. The others are the C
 * library's, in double precision and rounded once. Infinities, NaN and overflow come out as in C,
 * but for subnormal results of sigmoid, which may be 0. */
#ifndef ATTUNE_FUNCTIONS_H
#define ATTUNE_FUNCTIONS_H

#include <math.h>

/* x = rest + n step ln(2): adding 1.5 * 2^23 leaves the nearest integer in the low bits of the sum,
 * here with the bias of an exponent. ln(2) is in two parts: n times the first one is exact. */
typedef struct at_reduced {
  float rest, power; /* 2^n */
} at_reduced;
static inline at_reduced at_reduce_f32(float x, float step) {
  const float magic = 0x1.8p23f + 127.0f, sum = x * (1.44269504088896341f / step) + magic;
  const float n = sum - magic;
  const at_reduced result = {
      (x - n * (0.693115234375f * step)) - n * (0.0000319461832987144589f * step),
      at_bits_of_f32_u32(at_bits_of_u32_f32(sum) << 23)};
  return result;
}

static inline float at_exp_f32(float x) {
  /* Beyond these the result is 0 or infinity; a NaN passes both comparisons. */
  const float below = x > 89.0f ? 89.0f : x, inside = below < -104.0f ? -104.0f : below;
  /* The square of a power of two reaches everywhere, and rounds once where the result is subnormal.
   */
  const at_reduced x2 = at_reduce_f32(inside, 2.0f);
  const float r = x2.rest;
  const float p =
      1.0f +
      r * (1.0f + r * (0.500000358f +
                       r * (0.166666135f +
                            r * (0.04166127f + r * (0.00833610352f +
                                                    r * (0.00141044706f + r * 0.000196115987f))))));
  return p * x2.power * x2.power;
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
  /* e^-x, from where it is lost in a sum with 1 to where it is infinite. */
  const float below = -x > 89.0f ? 89.0f : -x, inside = below < -87.0f ? -87.0f : below;
  const at_reduced minus_x = at_reduce_f32(inside, 1.0f);
  const float r = minus_x.rest;
  const float p =
      1.0f + r * (1.0f + r * (0.499992311f +
                              r * (0.166671157f + r * (0.0418903306f + r * 0.00831250194f))));
  return 1.0f / (p * minus_x.power + 1.0f);
}

static inline float at_tanh_f32(float x) {
  /* A quotient of polynomials up to where the result is 1; nothing in them cancels. */
  const float below = x > 8.6f ? 8.6f : x, b = below < -8.6f ? -8.6f : below, u = b * b;
  const float top = 1.0f + u * (0.134068772f +
                                u * (0.00352640217f + u * (2.11223814e-05f + u * 1.40825236e-08f)));
  const float bottom =
      1.0f + u * (0.467401922f + u * (0.0259939041f + u * (0.000333627046f + u * 8.07065021e-07f)));
  /* Rounding must not take it beyond 1, where its inverse ends. */
  const float y = b * top / bottom;
  return y > 1.0f ? 1.0f : y < -1.0f ? -1.0f : y;
}

static inline float at_erf_f32(float x) {
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
