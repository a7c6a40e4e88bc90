// Matrix instructions of a warp, with registers in the order of the PTX manual: a lane's four
// results, four registers of the left tile and two of the right one.
#pragma once

#ifdef __CUDACC__
// To 10 bits of mantissa, away from zero where two are as near: the units ignore the bits behind.
AT_DEVICE uint32_t at_round_tf32(uint32_t x) { return x + 0x1000u; }

#define AT_MMA(name, instruction)                                                                 \
  AT_DEVICE void at_mma_##name(float& c0, float& c1, float& c2, float& c3, uint32_t a0,           \
                               uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) { \
    asm(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)                                                  \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                  \
  }
AT_MMA(m16n8k16_f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
AT_MMA(m16n8k16_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
AT_MMA(m16n8k8_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
#endif
