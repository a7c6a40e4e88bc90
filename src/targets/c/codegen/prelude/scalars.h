/* Arithmetic of one element as kernels mean it: integers wrap around; division and remainder round
 * towards minus infinity and never trap; shifts by the width or more leave no bit but the sign;
 * min(a, b) and max(a, b) are b where the two cannot be compared; conversion to integers truncates
 * and saturates, and takes what is not a number for 0. */
#ifndef ATTUNE_SCALARS_H
#define ATTUNE_SCALARS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* What sums and products that wrap around are computed in: at least 32 bits, unsigned. */
typedef uint32_t at_wrap_i8, at_wrap_u8, at_wrap_i16, at_wrap_u16, at_wrap_i32, at_wrap_u32;
typedef uint64_t at_wrap_i64, at_wrap_u64;
/* The unsigned type of the same width. */
typedef uint8_t at_bits_i8, at_bits_u8;
typedef uint16_t at_bits_i16, at_bits_u16;
typedef uint32_t at_bits_i32, at_bits_u32, at_bits_f32;
typedef uint64_t at_bits_i64, at_bits_u64, at_bits_f64;

#define AT_ANY(T, C)                                                  \
  static inline C at_min_##T(C a, C b) { return (C)(a < b ? a : b); } \
  static inline C at_max_##T(C a, C b) { return (C)(a > b ? a : b); }

/* T: the type's tag, C: its name, U: unsigned of the same width, W: where it wraps around. */
#define AT_INT(T, C, U, W)                                          \
  AT_ANY(T, C)                                                      \
  static inline C at_add_##T(C a, C b) { return (C)((W)a + (W)b); } \
  static inline C at_sub_##T(C a, C b) { return (C)((W)a - (W)b); } \
  static inline C at_mul_##T(C a, C b) { return (C)((W)a * (W)b); } \
  static inline C at_neg_##T(C a) { return (C)((W)0 - (W)a); }      \
  static inline C at_not_##T(C a) { return (C) ~(W)a; }             \
  static inline C at_shl_##T(C a, C b) {                            \
    return (C)((U)b < 8 * sizeof(C) ? (C)(U)((W)a << (U)b) : (C)0); \
  }

#define AT_SIGNED(T, C, U, W)                                                \
  AT_INT(T, C, U, W)                                                         \
  static inline C at_abs_##T(C a) { return (C)(a < 0 ? at_neg_##T(a) : a); } \
  static inline C at_sign_##T(C a) { return (C)((a > 0) - (a < 0)); }        \
  static inline C at_shr_##T(C a, C b) {                                     \
    return (C)(a >> ((U)b < 8 * sizeof(C) ? (U)b : (U)(8 * sizeof(C) - 1))); \
  }                                                                          \
  static inline C at_div_##T(C a, C b) {                                     \
    const C n = (C)(b == -1 ? at_neg_##T(a) : a);                            \
    const C d = (C)(b == -1 || b == 0 ? (C)1 : b);                           \
    const C q = (C)(n / d), r = (C)(n % d);                                  \
    return (C)(r != 0 && (r < 0) != (d < 0) ? (C)(q - 1) : q);               \
  }                                                                          \
  static inline C at_mod_##T(C a, C b) {                                     \
    const C d = (C)(b == -1 || b == 0 ? (C)1 : b);                           \
    const C r = (C)(a % d);                                                  \
    return (C)(r != 0 && (r < 0) != (d < 0) ? (C)(r + d) : r);               \
  }

#define AT_UNSIGNED(T, C, U, W)                                                                   \
  AT_INT(T, C, U, W)                                                                              \
  static inline C at_abs_##T(C a) { return a; }                                                   \
  static inline C at_sign_##T(C a) { return (C)(a != 0); }                                        \
  static inline C at_shr_##T(C a, C b) { return (C)((U)b < 8 * sizeof(C) ? (C)(a >> b) : (C)0); } \
  static inline C at_div_##T(C a, C b) { return (C)(a / (b == 0 ? (C)1 : b)); }                   \
  static inline C at_mod_##T(C a, C b) { return (C)(a % (b == 0 ? (C)1 : b)); }

AT_SIGNED(i8, int8_t, uint8_t, uint32_t)
AT_SIGNED(i16, int16_t, uint16_t, uint32_t)
AT_SIGNED(i32, int32_t, uint32_t, uint32_t)
AT_SIGNED(i64, int64_t, uint64_t, uint64_t)
AT_UNSIGNED(u8, uint8_t, uint8_t, uint32_t)
AT_UNSIGNED(u16, uint16_t, uint16_t, uint32_t)
AT_UNSIGNED(u32, uint32_t, uint32_t, uint32_t)
AT_UNSIGNED(u64, uint64_t, uint64_t, uint64_t)

#define AT_FLOAT(T, C)                                   \
  AT_ANY(T, C)                                           \
  static inline C at_add_##T(C a, C b) { return a + b; } \
  static inline C at_mul_##T(C a, C b) { return a * b; }

AT_FLOAT(f32, float)
AT_FLOAT(f64, double)
static inline float at_mod_f32(float a, float b) { return a - floorf(a / b) * b; }
static inline double at_mod_f64(double a, double b) { return a - floor(a / b) * b; }

/* LOW and HIGH are exact in F; HIGH is one more than the largest value. */
#define AT_TO_INT(T, C, F, FT, LOW, HIGH, MIN, MAX)                  \
  static inline C at_##T##_from_##FT(F x) {                          \
    const F inside = x >= (LOW) && x < (HIGH) ? x : (F)0;            \
    const C truncated = (C)inside;                                   \
    return (C)(x >= (HIGH) ? (MAX) : x < (LOW) ? (MIN) : truncated); \
  }
#define AT_TO_INTS(F, FT)                                                     \
  AT_TO_INT(i8, int8_t, F, FT, (F)-128, (F)128, INT8_MIN, INT8_MAX)           \
  AT_TO_INT(i16, int16_t, F, FT, (F)-32768, (F)32768, INT16_MIN, INT16_MAX)   \
  AT_TO_INT(i32, int32_t, F, FT, (F)-0x1p31, (F)0x1p31, INT32_MIN, INT32_MAX) \
  AT_TO_INT(i64, int64_t, F, FT, (F)-0x1p63, (F)0x1p63, INT64_MIN, INT64_MAX) \
  AT_TO_INT(u8, uint8_t, F, FT, (F)0, (F)256, 0, UINT8_MAX)                   \
  AT_TO_INT(u16, uint16_t, F, FT, (F)0, (F)65536, 0, UINT16_MAX)              \
  AT_TO_INT(u32, uint32_t, F, FT, (F)0, (F)0x1p32, 0, UINT32_MAX)             \
  AT_TO_INT(u64, uint64_t, F, FT, (F)0, (F)0x1p64, 0, UINT64_MAX)
AT_TO_INTS(float, f32)
AT_TO_INTS(double, f64)

#define AT_BITS(T, C, F, FT)                   \
  static inline C at_bits_of_##T##_##FT(F x) { \
    C bits;                                    \
    memcpy(&bits, &x, sizeof bits);            \
    return bits;                               \
  }
AT_BITS(u32, uint32_t, float, f32)
AT_BITS(i32, int32_t, float, f32)
AT_BITS(f32, float, uint32_t, u32)
AT_BITS(f32, float, int32_t, i32)
AT_BITS(u64, uint64_t, double, f64)
AT_BITS(i64, int64_t, double, f64)
AT_BITS(f64, double, uint64_t, u64)
AT_BITS(f64, double, int64_t, i64)

/* f16 and bf16 are 16 bits in memory and f32 in arithmetic; rounding is to nearest even. */
static inline float at_f32_from_bf16(uint16_t bits) {
  return at_bits_of_f32_u32((uint32_t)bits << 16);
}

static inline uint16_t at_bf16_from_f32(float x) {
  const uint32_t u = at_bits_of_u32_f32(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (uint16_t)(x != x ? (u >> 16) | 0x40u : rounded);
}

static inline float at_f32_from_f16(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu, shifted = magnitude << 13;
  /* Scaling moves the exponent and turns subnormal halves into normal floats. */
  const uint32_t finite = at_bits_of_u32_f32(at_bits_of_f32_u32(shifted) * 0x1p112f);
  const uint32_t value = magnitude >= 0x7c00u ? shifted | 0x7f800000u : finite;
  return at_bits_of_f32_u32(value | (bits & 0x8000u) << 16);
}

static inline uint16_t at_f16_from_f32(float x) {
  const uint32_t all = at_bits_of_u32_f32(x), sign = all & 0x80000000u, u = all ^ sign;
  /* Of subnormal results, adding 0.5 leaves the rounded mantissa in the low bits. */
  const uint32_t small = at_bits_of_u32_f32(at_bits_of_f32_u32(u) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;
  const uint32_t finite = u < 0x38800000u ? small : normal;
  const uint32_t special = u > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (uint16_t)((u >= 0x47800000u ? special : finite) | sign >> 16);
}

static inline float at_round_bf16(float x) { return at_f32_from_bf16(at_bf16_from_f32(x)); }
static inline float at_round_f16(float x) { return at_f32_from_f16(at_f16_from_f32(x)); }

#endif
