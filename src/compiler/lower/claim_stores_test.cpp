// Claims of memory that is written later.
#include "compiler/lower/passes_testing.h"

namespace attune::lower {
namespace {

std::string after(const std::string& body) {
  return ir::to_string(changed_by(claim_stores, body, {.read = 64, .written = 128}));
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
