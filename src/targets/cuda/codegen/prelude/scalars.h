// Arithmetic of one element as kernels mean it: integers wrap around; division and remainder round
// towards minus infinity; shifts by the width or more leave no bit but the sign; min(a, b) and
// max(a, b) are b where the two cannot be compared; conversion to integers truncates and saturates,
// and takes what is not a number for 0.
#pragma once

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807ll - 1)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif

#define AT_DEVICE static __device__ __forceinline__

typedef float at_f32;
typedef double at_f64;
typedef int8_t at_i8;
typedef int16_t at_i16;
typedef int32_t at_i32;
typedef int64_t at_i64;
typedef uint8_t at_u8;
typedef uint16_t at_u16;
typedef uint32_t at_u32;
typedef uint64_t at_u64;

// What sums and products that wrap around are computed in: at least 32 bits, unsigned.
typedef uint32_t at_wrap_i8, at_wrap_u8, at_wrap_i16, at_wrap_u16, at_wrap_i32, at_wrap_u32;
typedef uint64_t at_wrap_i64, at_wrap_u64;

#define AT_ANY(T, C)                                         \
  AT_DEVICE C at_min_##T(C a, C b) { return a < b ? a : b; } \
  AT_DEVICE C at_max_##T(C a, C b) { return a > b ? a : b; }

// T: the type's tag, C: its name, U: unsigned of the same width, W: where it wraps around.
#define AT_INT(T, C, U, W)                                      \
  AT_ANY(T, C)                                                  \
  AT_DEVICE C at_add_##T(C a, C b) { return (C)((W)a + (W)b); } \
  AT_DEVICE C at_sub_##T(C a, C b) { return (C)((W)a - (W)b); } \
  AT_DEVICE C at_mul_##T(C a, C b) { return (C)((W)a * (W)b); } \
  AT_DEVICE C at_neg_##T(C a) { return (C)((W)0 - (W)a); }      \
  AT_DEVICE C at_not_##T(C a) { return (C) ~(W)a; }             \
  AT_DEVICE C at_shl_##T(C a, C b) { return (U)b < 8 * sizeof(C) ? (C)(U)((W)a << (U)b) : (C)0; }

#define AT_SIGNED(T, C, U, W)                                           \
  AT_INT(T, C, U, W)                                                    \
  AT_DEVICE C at_abs_##T(C a) { return a < 0 ? at_neg_##T(a) : a; }     \
  AT_DEVICE C at_sign_##T(C a) { return (C)((a > 0) - (a < 0)); }       \
  AT_DEVICE C at_shr_##T(C a, C b) {                                    \
    return (C)(a >> ((U)b < 8 * sizeof(C) ? (U)b : 8 * sizeof(C) - 1)); \
  }                                                                     \
  AT_DEVICE C at_div_##T(C a, C b) {                                    \
    const C n = b == -1 ? at_neg_##T(a) : a, d = b == -1 ? (C)1 : b;    \
    const C q = (C)(n / d), r = (C)(n % d);                             \
    return r != 0 && (r < 0) != (d < 0) ? (C)(q - 1) : q;               \
  }                                                                     \
  AT_DEVICE C at_mod_##T(C a, C b) {                                    \
    const C d = b == -1 ? (C)1 : b, r = (C)(a % d);                     \
    return r != 0 && (r < 0) != (d < 0) ? (C)(r + d) : r;               \
  }

#define AT_UNSIGNED(T, C, U, W)                                                          \
  AT_INT(T, C, U, W)                                                                     \
  AT_DEVICE C at_abs_##T(C a) { return a; }                                              \
  AT_DEVICE C at_sign_##T(C a) { return a != 0; }                                        \
  AT_DEVICE C at_shr_##T(C a, C b) { return (U)b < 8 * sizeof(C) ? (C)(a >> b) : (C)0; } \
  AT_DEVICE C at_div_##T(C a, C b) { return (C)(a / b); }                                \
  AT_DEVICE C at_mod_##T(C a, C b) { return (C)(a % b); }

AT_SIGNED(i8, int8_t, uint8_t, uint32_t)
AT_SIGNED(i16, int16_t, uint16_t, uint32_t)
AT_SIGNED(i32, int32_t, uint32_t, uint32_t)
AT_SIGNED(i64, int64_t, uint64_t, uint64_t)
AT_UNSIGNED(u8, uint8_t, uint8_t, uint32_t)
AT_UNSIGNED(u16, uint16_t, uint16_t, uint32_t)
AT_UNSIGNED(u32, uint32_t, uint32_t, uint32_t)
AT_UNSIGNED(u64, uint64_t, uint64_t, uint64_t)

// Of an index that is not negative, by a constant: cheaper than what has to mind the sign.
AT_DEVICE int at_quotient(int a, unsigned b) { return (int)((unsigned)a / b); }
AT_DEVICE int at_remainder(int a, unsigned b) { return (int)((unsigned)a % b); }

#define AT_FLOAT(T, C)                               \
  AT_ANY(T, C)                                       \
  AT_DEVICE C at_add_##T(C a, C b) { return a + b; } \
  AT_DEVICE C at_mul_##T(C a, C b) { return a * b; }
AT_FLOAT(f32, float)
AT_FLOAT(f64, double)
AT_DEVICE float at_mod_f32(float a, float b) { return a - floorf(a / b) * b; }
AT_DEVICE double at_mod_f64(double a, double b) { return a - floor(a / b) * b; }

// LOW and HIGH are exact in F; HIGH is one more than the largest value.
#define AT_TO_INT(T, C, F, FT, LOW, HIGH, LEAST, MOST)                   \
  AT_DEVICE C at_##T##_from_##FT(F x) {                                  \
    const F inside = x >= (LOW) && x < (HIGH) ? x : (F)0;                \
    return x >= (HIGH) ? (C)(MOST) : x < (LOW) ? (C)(LEAST) : (C)inside; \
  }
#define AT_TO_INTS(F, FT)                                                              \
  AT_TO_INT(i8, int8_t, F, FT, (F)-128, (F)128, -128, 127)                             \
  AT_TO_INT(i16, int16_t, F, FT, (F)-32768, (F)32768, -32768, 32767)                   \
  AT_TO_INT(i32, int32_t, F, FT, (F)-0x1p31, (F)0x1p31, INT32_MIN, 0x7fffffff)         \
  AT_TO_INT(i64, int64_t, F, FT, (F)-0x1p63, (F)0x1p63, INT64_MIN, 0x7fffffffffffffff) \
  AT_TO_INT(u8, uint8_t, F, FT, (F)0, (F)256, 0, 255)                                  \
  AT_TO_INT(u16, uint16_t, F, FT, (F)0, (F)65536, 0, 65535)                            \
  AT_TO_INT(u32, uint32_t, F, FT, (F)0, (F)0x1p32, 0, 0xffffffff)                      \
  AT_TO_INT(u64, uint64_t, F, FT, (F)0, (F)0x1p64, 0, 0xffffffffffffffff)
AT_TO_INTS(float, f32)
AT_TO_INTS(double, f64)

#define AT_BITS(T, C, F, FT)               \
  AT_DEVICE C at_bits_of_##T##_##FT(F x) { \
    C bits;                                \
    memcpy(&bits, &x, sizeof(C));          \
    return bits;                           \
  }
AT_BITS(u32, uint32_t, float, f32)
AT_BITS(i32, int32_t, float, f32)
AT_BITS(f32, float, uint32_t, u32)
AT_BITS(f32, float, int32_t, i32)
AT_BITS(u64, uint64_t, double, f64)
AT_BITS(i64, int64_t, double, f64)
AT_BITS(f64, double, uint64_t, u64)
AT_BITS(f64, double, int64_t, i64)
