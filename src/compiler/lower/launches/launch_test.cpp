// Programs for blocks and threads, lowered.
#include <gtest/gtest.h>

#include "compiler/ir/interpret/launches.h"
#include "compiler/lower/launches/lowered_testing.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

constexpr const char* kWindow = R"(program window {
  input x: f32[32]
  stage wide(i: 32) = x[i] * 2.0f32
  stage 'output'(i: 30) = wide[i] + wide[i + 2]
  output 'output'
}
)";

// The axis is as long as its longest loop, and who has nothing to do stands aside.
TEST(Launch, SharedMemoryIsFetchedTogether) {
  EXPECT_EQ(text_of(kWindow,
                    "split output i 10\nbind output i.0 block.x\nbind output i.1 thread.x\n"
                    "compute_at wide output i.0\nset_scope wide shared\n"
                    "bind wide i thread.x"),
            R"(kernel window(x: f32[32], 'output': f32[30]) {
  bound for output_block_x in 3 on block.x {
    bound for output_thread_x in 12 on thread.x {
      alloc wide: f32[12] shared {
        wide[output_thread_x] = x[output_block_x * 10 + output_thread_x] * 2.0f32
        barrier shared
        if (output_thread_x < 10) {
          'output'[output_block_x * 10 + output_thread_x] = wide[output_thread_x] + wide[output_thread_x + 2]
        }
      }
    }
  }
}
)");
}

TEST(Launch, OneThreadDoesWhatIsNotBound) {
  EXPECT_EQ(text_of(kWindow,
                    "bind output i block.x\ncompute_at wide output i\n"
                    "set_scope wide shared\nbind wide i thread.x"),
            R"(kernel window(x: f32[32], 'output': f32[30]) {
  bound for output_block_x in 30 on block.x {
    bound for output_thread_x in 3 on thread.x {
      alloc wide: f32[3] shared {
        wide[output_thread_x] = x[output_block_x + output_thread_x] * 2.0f32
        barrier shared
        if (output_thread_x == 0) {
          'output'[output_block_x] = wide[0] + wide[2]
        }
      }
    }
  }
}
)");
}

// Threads beyond a loop of one iteration fetch for the one that it is bound to.
TEST(Launch, SharedMemoryIsFetchedByThreadsBeyondTheReader) {
  EXPECT_EQ(text_of(kWindow,
                    "split output i 30\nbind output i.0 thread.x\ncompute_at wide output i.1\n"
                    "set_scope wide shared\nbind wide i thread.x"),
            R"(kernel window(x: f32[32], 'output': f32[30]) {
  bound for output_thread_x in 3 on thread.x {
    for output_i_1 in 30 {
      alloc wide: f32[3] shared {
        wide[output_thread_x] = x[output_i_1 + output_thread_x] * 2.0f32
        barrier shared
        if (output_thread_x < 1) {
          'output'[output_i_1] = wide[0] + wide[2]
        }
      }
      barrier shared
    }
  }
}
)");
}

constexpr const char* kProduct = R"(program product {
  input a: f32[16, 16]
  input b: f32[16, 16]
  stage anchor(i: 16, j: 16) = sum(k: 16) a[i, k] * b[k, j]
  stage 'output'(i: 16, j: 16) = anchor[i, j] + 1.0f32
  output 'output'
}
)";
const std::string kTile = R"(split output i 8
split output j 4
reorder output i.0 j.0 i.1 j.1
bind output i.0 block.y
bind output j.0 block.x
split output i.1 4
bind output i.1.0 thread.x
compute_at anchor output i.1.0
set_scope anchor register
split anchor k 4
reorder anchor k.0 i j k.1
cache_read a anchor
compute_at cache.a anchor k.0
set_scope cache.a shared
storage_align cache.a 8 1
split cache.a i0 2
bind cache.a i0.1 thread.x
cache_read b anchor
compute_at cache.b anchor k.0
set_scope cache.b shared
split cache.b i0 2
bind cache.b i0.1 thread.x
)";

ir::Array filled(std::vector<std::int64_t> shape, int seed) {
  ir::Array array(ir::kF32, std::move(shape));
  for (std::int64_t i = 0; i < array.count(); ++i) {
    array.set_real(i, static_cast<double>((i * 7 + seed) % 13) - 6);
  }
  return array;
}

TEST(Launch, BarriersStandWhereTilesAreFilledAndReadAgain) {
  const std::string text = text_of(kProduct, kTile);
  EXPECT_NE(text.find("alloc cache.a: f32[72] shared"), std::string::npos) << text;
  std::size_t barriers = 0;
  for (auto at = text.find("barrier"); at != std::string::npos; at = text.find("barrier", at + 1)) {
    ++barriers;
  }
  EXPECT_EQ(barriers, 2u) << text;
}

// By loops or by the intrinsic: the same sums.
TEST(Tensorize, ComputesWhatTheLoopsDo) {
  for (const std::string& more : {std::string(), std::string("tensorize anchor i mma_4x4x4_f32")}) {
    const auto kernel = lowered(kProduct, kTile + more);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    EXPECT_EQ(ir::to_string(*kernel).find("@mma_4x4x4_f32") != std::string::npos, !more.empty());
    std::vector<ir::Array> arrays{filled({256}, 1), filled({256}, 5), ir::Array(ir::kF32, {256})};
    const auto findings = ir::run_launches(*kernel, arrays, 2);
    ASSERT_TRUE(findings.ok()) << findings.error().message;
    ASSERT_TRUE(findings->empty()) << findings->front().text << ir::to_string(*kernel);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        double sum = 1;
        for (int k = 0; k < 16; ++k) sum += arrays[0].real(i * 16 + k) * arrays[1].real(k * 16 + j);
        ASSERT_EQ(arrays[2].real(i * 16 + j), sum) << i << ", " << j;
      }
    }
  }
}

TEST(Tensorize, SaysWhatDoesNotFit) {
  EXPECT_EQ(text_of(kProduct, "tensorize anchor i mma_2x2x2_f32"),
            "line 1 of the trace: unknown intrinsic 'mma_2x2x2_f32' for stage 'anchor'");
  EXPECT_EQ(text_of(kProduct, "tensorize anchor i mma_4x4x4_f32"),
            "line 1 of the trace: stage 'anchor' does not fit intrinsic 'mma_4x4x4_f32': its loops "
            "are i 16, j 16, reduction k 16, those of the intrinsic i 4, j 4, reduction k 4");
  EXPECT_EQ(text_of(kProduct, "tensorize output i mma_4x4x4_f32"),
            "line 1 of the trace: stage 'output' does not fit intrinsic 'mma_4x4x4_f32': another "
            "reduction");
  const std::string tiles =
      "split anchor i 4\nsplit anchor j 4\nsplit anchor k 4\n"
      "reorder anchor i.0 j.0 k.0 i.1 j.1 k.1\n";
  EXPECT_EQ(text_of(kProduct, tiles + "tensorize anchor i.1 mma_4x4x4_f32"),
            "operand 'c' of intrinsic 'mma_4x4x4_f32' is 'anchor' in global memory");
  EXPECT_EQ(text_of(kProduct, tiles + "tensorize anchor i.1 mma_4x4x4_f32\nsplit anchor i.1 2"),
            "the loops of stage 'anchor' were split or fused after tensorize");
  EXPECT_EQ(
      text_of(kProduct, tiles + "unroll anchor j.1\ntensorize anchor i.1 mma_4x4x4_f32"),
      "line 6 of the trace: stage 'anchor' does not fit intrinsic 'mma_4x4x4_f32': loop 'j.1' "
      "is annotated");
}

std::string overlaid(const std::string& body) {
  const auto kernel = ir::parse_kernel("kernel k(x: f32[8], y: f32[8]) {\n" + body + "\n}\n");
  CHECK(kernel.ok(), kernel.error().message);
  ir::Kernel changed = *kernel;
  changed.body = overlay_shared(kernel->body);
  return ir::to_string(changed);
}

constexpr const char* kSlab =
    "alloc B: f32[16] shared { B[t] = x[t] barrier shared y[t] = B[7 - t] }";

// What is done with lends its place, behind a barrier.
TEST(Launch, SharedMemoryIsUsedAgain) {
  EXPECT_EQ(overlaid(std::string("bound for t in 8 on thread.x { alloc A: f32[8] shared { ") +
                     kSlab + " A[t] = y[t] barrier shared y[t] = A[7 - t] } }"),
            R"(kernel k(x: f32[8], y: f32[8]) {
  bound for t in 8 on thread.x {
    alloc A: f32[16] shared {
      A[t] = x[t]
      barrier shared
      y[t] = A[7 - t]
      barrier shared
      A[t] = y[t]
      barrier shared
      y[t] = A[7 - t]
    }
  }
}
)");
}

// Slabs of a loop that is over are done with: the barrier is behind the loop.
TEST(Launch, SharedMemoryOfALoopIsUsedAgain) {
  EXPECT_EQ(overlaid(std::string("bound for t in 8 on thread.x { alloc A: f32[8] shared { ") +
                     "for i in 2 { " + kSlab +
                     " barrier shared } A[t] = y[t] barrier shared y[t] = A[7 - t] } }"),
            R"(kernel k(x: f32[8], y: f32[8]) {
  bound for t in 8 on thread.x {
    alloc A: f32[16] shared {
      for i in 2 {
        A[t] = x[t]
        barrier shared
        y[t] = A[7 - t]
        barrier shared
      }
      barrier shared
      A[t] = y[t]
      barrier shared
      y[t] = A[7 - t]
    }
  }
}
)");
}

// Not what is still used, what is used in every turn of a loop, nor what threads use by themselves.
TEST(Launch, SharedMemoryInUseIsKept) {
  const std::string slab = kSlab, ends = " A[t] = y[t] barrier shared y[t] = A[7 - t] } }";
  const std::string begins = "bound for t in 8 on thread.x { ";
  for (const std::string& body :
       {begins + "alloc A: f32[8] shared { A[t] = x[t] " + slab + ends,
        begins + "for i in 2 { alloc A: f32[8] shared { " + slab + ends + " }",
        begins + "alloc A: f32[8] shared { for i in 2 { " + slab + " A[t] = y[t] }" + ends,
        begins + "alloc A: f32[8] shared { if (t < 3) { " + slab + " }" + ends,
        begins + "alloc A: f32[8] shared { alloc B: f32[8] shared { B[t] = x[t] }" + ends,
        begins + "alloc A: i32[8] shared { " + slab + " A[t] = 1i32 } }"}) {
    EXPECT_NE(overlaid(body).find("alloc B"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace attune::lower
