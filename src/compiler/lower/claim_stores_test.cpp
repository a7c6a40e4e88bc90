// Claims of memory that is written later, on small kernels in text.
#include <gtest/gtest.h>

#include "compiler/ir/interpret.h"
#include "compiler/ir/parse.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

std::vector<ir::Array> run(const ir::Kernel& kernel) {
  std::vector<ir::Array> arrays{ir::Array(ir::kF32, {64}), ir::Array(ir::kF32, {128})};
  for (int i = 0; i < 64; ++i) arrays[0].set_real(i, 0.25 * i - 2);
  for (int i = 0; i < 128; ++i) arrays[1].set_real(i, -1 - i);
  const Status status = ir::interpret(kernel, arrays);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return arrays;
}

// The kernel `kernel k(A: f32[64], B: f32[128]) { … }` after the pass, which must mean the same.
std::string after(const std::string& body) {
  const auto before = ir::parse_kernel("kernel k(A: f32[64], B: f32[128]) {\n" + body + "}\n");
  CHECK(before.ok(), before.error().message);
  ir::Kernel changed = *before;
  changed.body = claim_stores(before->body);
  const Status verified = ir::verify(changed);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(run(*before)[1].data, run(changed)[1].data);
  return ir::to_string(changed);
}

bool claims(const std::string& text) { return text.find("= 0.0f32") != std::string::npos; }

// Two planes of two lines, dealt out over four steps: two iterations of a loop that has one
// statement by itself and an inner loop.
TEST(ClaimStores, DealsTheLinesOut) {
  const std::string text = after(R"(
for p in 2 {
  alloc T: f32[32] {
    for r in 2 with claim = stores {
      T[r * 16] = A[r]
      for i in 15 from 1 {
        T[r * 16 + i] = A[r * 16 + i]
      }
    }
    for c in 2 {
      for i in 32 {
        B[p * 64 + c * 32 + i] = T[i] * 2.0f32
      }
    }
  }
})");
  EXPECT_NE(text.find("B[p * 64 + claim_plane * 32 + min(1, r * 16) * 16] = 0.0f32"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("B[p * 64 + claim_plane * 32 + min(1, r * 16 + i) * 16] = 0.0f32"),
            std::string::npos)
      << text;
}

TEST(ClaimStores, PartsOfARegionAreOne) {
  const std::string text = after(R"(
for p in 2 {
  alloc T: f32[16] {
    for r in 4 with claim = stores {
      T[r] = A[p * 16 + r]
    }
    B[p * 16] = T[0]
    for i in 14 from 1 {
      B[p * 16 + i] = T[1]
    }
    B[p * 16 + 15] = T[3]
  }
})");
  EXPECT_NE(text.find("B[p * 16 + min(0, r) * 16] = 0.0f32"), std::string::npos) << text;
}

TEST(ClaimStores, WhatIsNotCertainlyWrittenIsLeftAlone) {
  const std::string guarded = R"(
for p in 2 {
  alloc T: f32[16] {
    for r in 4 with claim = stores {
      T[r] = A[p * 16 + r]
    }
    for i in 16 {
      if (p * 16 + i < 30) {
        B[p * 16 + i] = T[1]
      }
    }
  }
})";
  EXPECT_FALSE(claims(after(guarded)));
  const std::string gaps = R"(
for p in 2 {
  alloc T: f32[16] {
    for r in 4 with claim = stores {
      T[r] = A[p * 16 + r]
    }
    for i in 8 {
      B[p * 16 + i * 2] = T[1]
    }
  }
})";
  EXPECT_FALSE(claims(after(gaps)));
}

TEST(ClaimStores, OnlyWhereItIsAskedFor) {
  EXPECT_FALSE(claims(after(R"(
for r in 4 {
  A[r] = A[r + 4]
}
for i in 16 {
  B[i] = A[i]
})")));
}

}  // namespace
}  // namespace attune::lower
