// f16 and bf16 are 16 bits in memory and f32 in arithmetic; rounding is to nearest even.
#pragma once

AT_DEVICE float at_f32_from_bf16(uint16_t bits) { return at_bits_of_f32_u32((uint32_t)bits << 16); }

#ifdef __CUDACC__
AT_DEVICE uint16_t at_bf16_from_f32(float x) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
AT_DEVICE float at_f32_from_f16(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
AT_DEVICE uint16_t at_f16_from_f32(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#else
AT_DEVICE uint16_t at_bf16_from_f32(float x) {
  const uint32_t u = at_bits_of_u32_f32(x);
  return (uint16_t)(x != x ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
AT_DEVICE float at_f32_from_f16(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu, shifted = magnitude << 13;
  // Scaling moves the exponent and turns subnormal halves into normal floats.
  const uint32_t finite = at_bits_of_u32_f32(at_bits_of_f32_u32(shifted) * 0x1p112f);
  const uint32_t value = magnitude >= 0x7c00u ? shifted | 0x7f800000u : finite;
  return at_bits_of_f32_u32(value | (bits & 0x8000u) << 16);
}
AT_DEVICE uint16_t at_f16_from_f32(float x) {
  const uint32_t all = at_bits_of_u32_f32(x), sign = all & 0x80000000u, u = all ^ sign;
  // Of subnormal results, adding 0.5 leaves the rounded mantissa in the low bits.
  const uint32_t small = at_bits_of_u32_f32(at_bits_of_f32_u32(u) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;
  const uint32_t finite = u < 0x38800000u ? small : normal;
  const uint32_t special = u > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (uint16_t)((u >= 0x47800000u ? special : finite) | sign >> 16);
}
#endif

AT_DEVICE float at_round_bf16(float x) { return at_f32_from_bf16(at_bf16_from_f32(x)); }
AT_DEVICE float at_round_f16(float x) { return at_f32_from_f16(at_f16_from_f32(x)); }
