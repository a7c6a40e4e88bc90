#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 16 x 8 products of 16 terms by a warp, of f32 that are rounded as mma_16x8x8_tf32 does:
// two instructions of 8 terms each. Term 4 * t + 2 * s + u is term t + 4 * u of instruction s, so
// that a lane loads 16 bytes of every row at once.
TensorIntrinsic mma_16x8x16_tf32() {
  return {"mma_16x8x16_tf32",
          R"(program mma_16x8x16_tf32 {
  input a: f32[2, 16]
  input b: f32[16, 2]
  stage c(i: 2, j: 2) = sum(k: 16) a[i, k] * b[k, j]
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}},
           {"a", {Scope::Shared, Scope::Global}},
           {"b", {Scope::Shared, Scope::Global}}},
          16,
          WarpForm{32,
                   {{4, "", {"e / 2", "e % 2"}, ""},
                    {8, "lane / 4", {"e % 2", "lane % 4 * 4 + e / 4 * 2 + e / 2 % 2"}, "lane / 4"},
                    {4, "lane / 8", {"lane % 4 * 4 + e", "lane / 4 % 2"}, "lane % 4"}},
                   "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                   2},
          "bitcast<f32>(bitcast<i32>(x:f32) + 4096i32 & -8192i32)"};
}

}  // namespace attune::ir
