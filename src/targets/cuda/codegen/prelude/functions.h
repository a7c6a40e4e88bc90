// Mathematical functions of one element: those of the CUDA library, which err by at most 4 ulp.
#pragma once

AT_DEVICE float at_sign_f32(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
AT_DEVICE double at_sign_f64(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }
AT_DEVICE float at_rsqrt_f32(float x) { return rsqrtf(x); }
AT_DEVICE double at_rsqrt_f64(double x) { return rsqrt(x); }
// The quotient errs by 2 ulp, and is 0 where the result is subnormal.
AT_DEVICE float at_sigmoid_f32(float x) { return __fdividef(1.0f, 1.0f + expf(-x)); }
AT_DEVICE double at_sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
AT_DEVICE float at_pow_f32(float x, float y) { return powf(x, y); }
AT_DEVICE double at_pow_f64(double x, double y) { return pow(x, y); }
AT_DEVICE float at_fma_f32(float a, float b, float c) { return fmaf(a, b, c); }
AT_DEVICE double at_fma_f64(double a, double b, double c) { return fma(a, b, c); }

#define AT_BOTH(name, function)                                       \
  AT_DEVICE float at_##name##_f32(float x) { return function##f(x); } \
  AT_DEVICE double at_##name##_f64(double x) { return function(x); }
AT_BOTH(abs, fabs)
AT_BOTH(floor, floor)
AT_BOTH(ceil, ceil)
AT_BOTH(trunc, trunc)
AT_BOTH(round, rint)
AT_BOTH(sqrt, sqrt)
AT_BOTH(exp, exp)
AT_BOTH(log, log)
AT_BOTH(sin, sin)
AT_BOTH(cos, cos)
AT_BOTH(tan, tan)
AT_BOTH(asin, asin)
AT_BOTH(acos, acos)
AT_BOTH(atan, atan)
AT_BOTH(sinh, sinh)
AT_BOTH(cosh, cosh)
AT_BOTH(tanh, tanh)
AT_BOTH(asinh, asinh)
AT_BOTH(acosh, acosh)
AT_BOTH(atanh, atanh)
AT_BOTH(erf, erf)
