#include <fmt/format.h>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 64 rows of products of 8 terms by a warpgroup, of f32 whose lowest 13 bits of mantissa
// it does not look at. Numbered as that of halves.
TensorIntrinsic wgmma_tf32(int columns) {
  const std::string name = fmt::format("wgmma_64x{}x8_tf32", columns);
  return {
      name,
      fmt::format(R"(program {} {{
  input a: f32[2, 8]
  input b: f32[8, {}]
  stage c(i: 2, j: {}) = sum(k: 8) a[i, k] * b[k, j]
  output c
}}
)",
                  name, columns / 4, columns / 4),
      {{"c", {Scope::Register, Scope::Stack}}, {"a", {Scope::Shared}}, {"b", {Scope::Shared}}},
      columns / 2,
      {},
      "bitcast<f32>(bitcast<i32>(x:f32) & -8192i32)",
      WarpgroupForm{
          128,
          {columns / 2, "", {"e / 2 % 2", "e / 4 * 2 + e % 2"}, ""},
          {{"lane / 4", "step / 8 * 2 * group + i * group + step % 8 * 4 + k / 4 * lead + k % 4"},
           {"lane % 4", "j / 2 * group + step * 8 + j % 2 * 4 + k / 4 * lead + k % 4"}},
          fmt::format("wgmma.mma_async.sync.aligned.m64n{}k8.f32.tf32.tf32", columns),
          "1, 1"}};
}

}  // namespace attune::ir
