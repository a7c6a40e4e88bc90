#include <fmt/format.h>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {
namespace {

// A tile of 16 x 8 products of 32 terms by a warp, of a type of 16 bits with sums of f32: two
// instructions of 16 terms each. Term 8 * t + 4 * s + 2 * u + v is term 2 * t + 8 * u + v of
// instruction s, so that a lane loads 16 bytes of every row at once.
TensorIntrinsic mma_16x8x32(std::string_view type, std::string_view instruction) {
  const std::string name = fmt::format("mma_16x8x32_{}", type);
  return {name,
          fmt::format(R"(program {0} {{
  input a: {1}[2, 32]
  input b: {1}[32, 2]
  stage c(i: 2, j: 2) = sum(k: 32) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  output c
}}
)",
                      name, type),
          {{"c", {Scope::Register, Scope::Stack}},
           {"a", {Scope::Shared, Scope::Global}},
           {"b", {Scope::Shared, Scope::Global}}},
          16,
          WarpForm{32,
                   {{4, "", {"e / 2", "e % 2"}, ""},
                    {16,
                     "lane / 4",
                     {"e / 2 % 2", "lane % 4 * 8 + e / 8 * 4 + e / 4 % 2 * 2 + e % 2"},
                     "lane / 4"},
                    {8, "lane / 8", {"lane % 4 * 8 + e", "lane / 4 % 2"}, "lane % 4"}},
                   instruction,
                   2}};
}

}  // namespace

TensorIntrinsic mma_16x8x32_f16() {
  return mma_16x8x32("f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}
TensorIntrinsic mma_16x8x32_bf16() {
  return mma_16x8x32("bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
}

}  // namespace attune::ir
