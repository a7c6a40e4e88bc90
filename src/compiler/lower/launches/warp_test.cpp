// Products by matrix instructions of warps, lowered.
#include <gtest/gtest.h>

#include "compiler/lower/launches/lowered_testing.h"

namespace attune::lower {
namespace {

std::string product(int m, int n, int k) {
  const auto text = [](int number) { return std::to_string(number); };
  return "program product {\n  input a: f32[" + text(m) + ", " + text(k) + "]\n  input b: f32[" +
         text(k) + ", " + text(n) + "]\n  stage anchor(i: " + text(m) + ", j: " + text(n) +
         ") = sum(k: " + text(k) + ") a[i, k] * b[k, j]\n  stage 'output'(i: " + text(m) +
         ", j: " + text(n) + ") = max(anchor[i, j], 0.0f32)\n  output 'output'\n}\n";
}

// A warp for every 16 x 16 results: two tiles side by side.
const std::string kTile = R"(split output i 8 2
split output j 4 4
reorder output i.0 j.0 i.1 j.1 i.2 j.2
fuse output i.1 j.1
bind output i.0 block.y
bind output j.0 block.x
bind output i.1*j.1 thread.x
compute_at anchor output i.1*j.1
set_scope anchor register
split anchor j 2
split anchor k 8
reorder anchor k.0 j.0 i j.1 k.1
)";
const std::string kMma = "tensorize anchor i mma_16x8x8_tf32";

TEST(Warp, LanesCallTogetherAndKeepTheirResults) {
  EXPECT_EQ(text_of(product(32, 16, 24), kTile + kMma),
            R"(kernel product(a: f32[768], b: f32[384], 'output': f32[512]) {
  bound for output_block_y in 2 on block.y {
    bound for output_block_x in 1 on block.x {
      bound for output_thread_x in 32 on thread.x {
        alloc anchor: f32[8] register {
          for anchor_j_0 in 2 {
            for anchor_i in 2 {
              for anchor_j_1 in 2 {
                anchor[anchor_i * 4 + anchor_j_0 * 2 + anchor_j_1] = 0.0f32
              }
            }
          }
          for anchor_k_0 in 3 {
            for anchor_j_0 in 2 {
              eval @mma_16x8x8_tf32<i32>(anchor[anchor_j_0 * 2], 4, 1, a[output_block_y * 384 + anchor_k_0 * 8], 24, 1, 48, b[anchor_k_0 * 128 + anchor_j_0 * 2], 16, 1, 4, 0)
            }
          }
          for output_i_2 in 2 {
            for output_j_2 in 4 {
              'output'[output_block_y * 256 + output_thread_x / 4 * 32 + output_i_2 * 16 + output_thread_x % 4 * 4 + output_j_2] = max(anchor[output_i_2 * 4 + output_j_2], 0.0f32)
            }
          }
        }
      }
    }
  }
}
)");
}

// Steps of 8 along columns and of 4 along rows: b has the instruction's rows.
TEST(Warp, OperandsMayBeEitherWayRound) {
  std::string turned = kTile + kMma;
  const auto replace = [&](const std::string& old, const std::string& with) {
    for (auto at = turned.find(old); at != std::string::npos; at = turned.find(old)) {
      turned.replace(at, old.size(), with);
    }
  };
  replace("split output i 8 2\nsplit output j 4 4", "split output i 4 2\nsplit output j 8 2");
  replace("i.1 j.1 i.2 j.2\nfuse output i.1 j.1", "j.1 i.1 i.2 j.2\nfuse output j.1 i.1");
  replace("i.1*j.1", "j.1*i.1");
  EXPECT_NE(text_of(product(32, 16, 24), turned)
                .find("@mma_16x8x8_tf32<i32>(anchor[0], 1, 2, b[anchor_k_0 * 128], 1, 16, 2, "
                      "a[output_block_y * 192 + anchor_k_0 * 8], 1, 24, 48, 0)"),
            std::string::npos)
      << text_of(product(32, 16, 24), turned);
}

TEST(Warp, SaysWhatDoesNotFit) {
  // Rows that 16 does not divide.
  EXPECT_EQ(text_of(product(24, 16, 24), kTile + kMma),
            "stage 'anchor' does not fit intrinsic 'mma_16x8x8_tf32': not all lanes of a warp take "
            "part");
  // Lanes one after the other along rows.
  std::string turned = kTile + kMma;
  turned.replace(turned.find("split output i 8 2\nsplit output j 4 4"), 37,
                 "split output i 16 1\nsplit output j 2 8");
  EXPECT_EQ(text_of(product(32, 16, 24), turned),
            "stage 'anchor' does not fit intrinsic 'mma_16x8x8_tf32': its loops are j.1 2, "
            "reduction k.1 8, those of the intrinsic i 2, j 2, reduction k 8");
  std::string narrow = kTile + kMma;
  narrow.replace(narrow.find("split output i 8 2"), 18, "split output i 4 2");
  EXPECT_EQ(text_of(product(32, 16, 24), narrow),
            "stage 'anchor' does not fit intrinsic 'mma_16x8x8_tf32': thread.x has 16 threads, and "
            "32 lanes run it together");
  const std::string global = kTile + "root anchor\n";
  EXPECT_NE(text_of(product(32, 16, 24), global + kMma).find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace attune::lower
