// Products by instructions of warpgroups, lowered: what stands in which order, and what is refused.
#include <gtest/gtest.h>

#include "compiler/lower/launches/lowered_testing.h"

namespace attune::lower {
namespace {

const std::string kProgram = R"(program product {
  input a: f16[128, 96]
  input b: f16[32, 96]
  stage anchor(i: 128, j: 32) = sum(k: 96) cast<f32>(a[i, k]) * cast<f32>(b[j, k])
  stage 'output'(i: 128, j: 32) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";
const std::string kTiles = R"(split output i 1 32 2
split output j 4 8
reorder output i.0 j.0 i.1 i.2 j.1 i.3 j.2
fuse output i.2 j.1
bind output i.0 block.y
bind output j.0 block.x
bind output i.2*j.1 thread.x
compute_at anchor output i.2*j.1
set_scope anchor register
split anchor k 1 16
reorder anchor k.0 k.1 i j k.2
cache_read a anchor
compute_at cache.a anchor k.0
set_scope cache.a shared
split cache.a i1 2 8
fuse cache.a i0 i1.0 i1.1
split cache.a i0*i1.0*i1.1 128
bind cache.a i0*i1.0*i1.1.1 thread.x
vectorize cache.a i1.2
cache_read b anchor
compute_at cache.b anchor k.0
set_scope cache.b shared
split cache.b i1 2 8
fuse cache.b i0 i1.0 i1.1
bind cache.b i0*i1.0*i1.1 thread.x
vectorize cache.b i1.2
)";
const std::string kLayouts = R"(layout cache.a i1/8 i0/16 i0%2 i0/2%8 i1%8
storage_gap cache.a 8
layout cache.b i1/8 i0/32 i0/2%4 i0/8%4 i0%2 i1%8
)";
const std::string kMma = "tensorize anchor i wgmma_64x32x16_f16\n";

// Whether the words stand one behind the other.
::testing::AssertionResult in_order(const std::string& text,
                                    const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    at = text.find(word, at);
    if (at == std::string::npos) {
      return ::testing::AssertionFailure() << "'" << word << "' does not follow in\n" << text;
    }
    at += word.size();
  }
  return ::testing::AssertionSuccess();
}

// Groups of eight rows are 64 elements apart, eight terms the 64 rows and the gap, or 32 columns.
TEST(Warpgroup, MatricesAreNamedByTheirDistances) {
  const std::string text = text_of(kProgram, kTiles + kLayouts + kMma);
  EXPECT_NE(text.find("(anchor[0], 8, 1, cache.a[0], 520, 64, cache.b[0], 256, 64)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("alloc cache.a: f16[1040] shared"), std::string::npos) << text;
  EXPECT_TRUE(in_order(text, {"@matrix_fence", "@shared_fence", "barrier shared", "@wgmma",
                              "@matrix_commit", "@matrix_wait<i32>(0)", "barrier shared"}));
}

TEST(Warpgroup, InstructionsRunBesideTheNextIteration) {
  const std::string three = "pipeline cache.a 3\npipeline cache.b 3\n";
  EXPECT_TRUE(
      in_order(text_of(kProgram, kTiles + kLayouts + three + kMma),
               {"@async_copy", "@async_commit", "for anchor_k_0 in 6", "@async_wait<i32>(0)",
                "@shared_fence", "barrier shared", "@matrix_fence", "@wgmma", "@matrix_commit",
                "if (anchor_k_0 < 5)", "@async_copy", "@async_commit", "@matrix_wait<i32>(1)",
                "@matrix_wait<i32>(0)", "'output'"}));
  const std::string two = "pipeline cache.a 2\npipeline cache.b 2\n";
  EXPECT_TRUE(in_order(
      text_of(kProgram, kTiles + kLayouts + two + kMma),
      {"for anchor_k_0 in 6", "@async_wait<i32>(0)", "barrier shared", "@async_copy",
       "@async_commit", "@matrix_fence", "@wgmma", "@matrix_commit", "@matrix_wait<i32>(0)"}));
}

TEST(Warpgroup, SaysWhatDoesNotFit) {
  EXPECT_EQ(text_of(kProgram, kTiles + kMma),
            "operand 'a' of intrinsic 'wgmma_64x32x16_f16' does not lie in groups of 8 rows of 16 "
            "bytes, as a warpgroup reads it");
  std::string narrow = kTiles + kLayouts + kMma;
  narrow.replace(narrow.find("split output i 1 32 2"), 21, "split output i 1 16 2");
  EXPECT_NE(text_of(kProgram, narrow).find("thread.x has 64 threads, and 128 lanes"),
            std::string::npos)
      << text_of(kProgram, narrow);
}

}  // namespace
}  // namespace attune::lower
