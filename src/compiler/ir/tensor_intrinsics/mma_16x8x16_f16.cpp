#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 16 x 8 products of 16 terms by a warp, in halves with sums of f32. Row 2 * step + i of
// the tile is the instruction's row step + 8 * i, and term 4 * t + 2 * u + v its term
// 2 * t + 8 * u + v, so that what a lane holds lies side by side.
TensorIntrinsic mma_16x8x16_f16() {
  return {"mma_16x8x16_f16",
          R"(program mma_16x8x16_f16 {
  input a: f16[2, 16]
  input b: f16[16, 2]
  stage c(i: 2, j: 2) = sum(k: 16) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}},
           {"a", {Scope::Shared, Scope::Global}},
           {"b", {Scope::Shared, Scope::Global}}},
          8,
          WarpForm{32,
                   {{4, "", {"e / 2", "e % 2"}, ""},
                    {8, "lane / 4", {"e / 2 % 2", "lane % 4 * 4 + e / 4 * 2 + e % 2"}, "lane / 4"},
                    {4, "lane / 8", {"lane % 4 * 4 + e", "lane / 4 % 2"}, "lane % 4"}},
                   "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}};
}

}  // namespace attune::ir
