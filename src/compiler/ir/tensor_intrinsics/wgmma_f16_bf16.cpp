#include <fmt/format.h>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {
namespace {

// A tile of 64 rows of products of 16 terms by a warpgroup, of a type of 16 bits with sums of f32.
// Row 2 * step + i of the tile is the instruction's row 16 * (step / 8) + 8 * i + step % 8, and the
// columns of a lane, which lie side by side, are two of every eight of the instruction's.
TensorIntrinsic wgmma(std::string_view type, int columns) {
  const std::string name = fmt::format("wgmma_64x{}x16_{}", columns, type);
  return {
      name,
      fmt::format(R"(program {0} {{
  input a: {1}[2, 16]
  input b: {1}[16, {2}]
  stage c(i: 2, j: {2}) = sum(k: 16) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  output c
}}
)",
                  name, type, columns / 4),
      {{"c", {Scope::Register, Scope::Stack}}, {"a", {Scope::Shared}}, {"b", {Scope::Shared}}},
      columns / 2,
      {},
      {},
      WarpgroupForm{
          128,
          {columns / 2, "", {"e / 2 % 2", "e / 4 * 2 + e % 2"}, ""},
          {{"lane / 4", "step / 8 * 2 * group + i * group + step % 8 * 8 + k / 8 * lead + k % 8"},
           {"lane % 4", "j / 2 * group + step * 16 + j % 2 * 8 + k / 8 * lead + k % 8"}},
          fmt::format("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1}", columns, type),
          "1, 1, 0, 0"}};
}

}  // namespace

TensorIntrinsic wgmma_f16(int columns) { return wgmma("f16", columns); }
TensorIntrinsic wgmma_bf16(int columns) { return wgmma("bf16", columns); }

}  // namespace attune::ir
