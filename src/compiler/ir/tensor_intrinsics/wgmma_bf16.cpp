#include <fmt/format.h>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 64 rows of products of 16 terms by a warpgroup, in bf16 with sums of f32. Row
// 2 * step + i of the tile is the instruction's row 16 * (step / 8) + 8 * i + step % 8, and the
// columns of a lane, which lie side by side, are two of every eight of the instruction's.
TensorIntrinsic wgmma_bf16(int columns) {
  const std::string name = fmt::format("wgmma_64x{}x16_bf16", columns);
  return {
      name,
      fmt::format(R"(program {} {{
  input a: bf16[2, 16]
  input b: bf16[16, {}]
  stage c(i: 2, j: {}) = sum(k: 16) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  output c
}}
)",
                  name, columns / 4, columns / 4),
      {{"c", {Scope::Register, Scope::Stack}}, {"a", {Scope::Shared}}, {"b", {Scope::Shared}}},
      columns / 2,
      {},
      {},
      WarpgroupForm{
          128,
          {columns / 2, "", {"e / 2 % 2", "e / 4 * 2 + e % 2"}, ""},
          {{"lane / 4", "step / 8 * 2 * group + i * group + step % 8 * 8 + k / 8 * lead + k % 8"},
           {"lane % 4", "j / 2 * group + step * 16 + j % 2 * 8 + k / 8 * lead + k % 8"}},
          fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.f32.bf16.bf16", columns),
          "1, 1, 0, 0"}};
}

}  // namespace attune::ir
