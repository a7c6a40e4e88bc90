#include <fmt/format.h>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {
namespace {

// A tile of 16 x 8 products of 16 terms by a warp, of a type of 16 bits with sums of f32. Row
// 2 * step + i of the tile is the instruction's row step + 8 * i, and term 4 * t + 2 * u + v its
// term 2 * t + 8 * u + v, so that what a lane holds lies side by side.
TensorIntrinsic mma_16x8x16(std::string_view type, std::string_view instruction) {
  const std::string name = fmt::format("mma_16x8x16_{}", type);
  return {name,
          fmt::format(R"(program {0} {{
  input a: {1}[2, 16]
  input b: {1}[16, 2]
  stage c(i: 2, j: 2) = sum(k: 16) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  output c
}}
)",
                      name, type),
          {{"c", {Scope::Register, Scope::Stack}},
           {"a", {Scope::Shared, Scope::Global}},
           {"b", {Scope::Shared, Scope::Global}}},
          8,
          WarpForm{32,
                   {{4, "", {"e / 2", "e % 2"}, ""},
                    {8, "lane / 4", {"e / 2 % 2", "lane % 4 * 4 + e / 4 * 2 + e % 2"}, "lane / 4"},
                    {4, "lane / 8", {"lane % 4 * 4 + e", "lane / 4 % 2"}, "lane % 4"}},
                   instruction}};
}

}  // namespace

TensorIntrinsic mma_16x8x16_f16() {
  return mma_16x8x16("f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}
TensorIntrinsic mma_16x8x16_bf16() {
  return mma_16x8x16("bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
}

}  // namespace attune::ir
