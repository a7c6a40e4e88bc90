#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 16 x 8 products of 8 terms by a warp, of f32 that are rounded to 10 bits of mantissa,
// away from zero where two are as near. Row 2 * step + i of the tile is the instruction's row
// step + 8 * i, and term 2 * t + u its term t + 4 * u.
TensorIntrinsic mma_16x8x8_tf32() {
  return {"mma_16x8x8_tf32",
          R"(program mma_16x8x8_tf32 {
  input a: f32[2, 8]
  input b: f32[8, 2]
  stage c(i: 2, j: 2) = sum(k: 8) a[i, k] * b[k, j]
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}},
           {"a", {Scope::Shared, Scope::Global}},
           {"b", {Scope::Shared, Scope::Global}}},
          8,
          WarpForm{32,
                   {{4, "", {"e / 2", "e % 2"}, ""},
                    {4, "lane / 4", {"e % 2", "lane % 4 * 2 + e / 2"}, "lane / 4"},
                    {2, "lane / 8", {"lane % 4 * 2 + e", "lane / 4 % 2"}, "lane % 4"}},
                   "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
          "bitcast<f32>(bitcast<i32>(x:f32) + 4096i32 & -8192i32)"};
}

}  // namespace attune::ir
