// Texts of kernels run as C++, with an emulation of blocks and threads, compute what the
// interpreter computes.
#include "targets/cuda/codegen/emulated_testing.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "compiler/codegen/c_text/statement_kernels_testing.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "targets/cuda/codegen/warp_kernels_testing.h"

namespace attune::cuda {
namespace {

using namespace ir;

using c_text::on_threads;

void expect_agreement(const std::vector<Kernel>& kernels) {
  const EmulatedKernels emulated(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<Array> arrays;
    for (const Buffer& buffer : kernels[k].params) {
      arrays.push_back(c_text::interesting(buffer->type, static_cast<int>(arrays.size()) * 7));
    }
    std::vector<Array> expected = arrays;
    LaunchOptions options;
    options.limits.shared_bytes = 128 << 10;
    const auto findings = run_launches(kernels[k], expected, -1, options);
    ASSERT_TRUE(findings.ok()) << findings.error().message << to_string(kernels[k]);
    ASSERT_TRUE(findings->empty()) << findings->front().text << to_string(kernels[k]);
    const std::vector<Array> got = emulated.run(k, arrays);
    const Array &want = expected.back(), &have = got.back();
    for (std::int64_t i = 0; i < want.count(); ++i) {
      const bool same = want.type.is_float() ? c_text::agree(want.type, want.real(i), have.real(i))
                                             : want.integer(i) == have.integer(i);
      ASSERT_TRUE(same) << to_string(kernels[k]) << emulated.text(k) << "element " << i << " is "
                        << have.real(i) << ", not " << want.real(i);
    }
  }
}

TEST(EmulatedCuda, Arithmetic) { expect_agreement(on_threads(c_text::arithmetic_kernels())); }
TEST(EmulatedCuda, DivisionRoundsDown) { expect_agreement(on_threads(c_text::division_kernels())); }
TEST(EmulatedCuda, BitsAndShifts) { expect_agreement(on_threads(c_text::bit_kernels())); }
TEST(EmulatedCuda, Functions) { expect_agreement(on_threads(c_text::function_kernels())); }
TEST(EmulatedCuda, Casts) { expect_agreement(on_threads(c_text::cast_kernels())); }
TEST(EmulatedCuda, TruthValues) { expect_agreement(on_threads(c_text::truth_value_kernels())); }
TEST(EmulatedCuda, MemoryAccess) { expect_agreement(c_text::access_kernels()); }
TEST(EmulatedCuda, Statements) { expect_agreement(c_text::statement_kernels()); }

TEST(EmulatedCuda, BlocksThreadsAndBarriers) {
  std::vector<Kernel> kernels;
  for (const char* text : {
           R"(kernel reverse(A: f32[48], B: f32[48]) {
  bound for b in 4 on block.y {
    bound for t in 12 on thread.x {
      alloc S: f32[12] shared {
        S[t] = A[b * 12 + t]
        barrier shared
        B[b * 12 + t] = S[11 - t]
      }
    }
  }
})",
           // One launch hands over to the next; more of it than a block may have without asking.
           R"(kernel large(A: f32[48], B: f32[48]) {
  alloc G: f32[48] global {
    bound for t in 48 on thread.z { G[47 - t] = A[t] }
    bound for t in 48 on thread.y {
      alloc S: f32[16000] shared {
        alloc R: f64[3] register {
          for i in 3 { R[i] = cast<f64>(G[t]) }
          S[t * 300] = cast<f32>(R[1] + R[2])
          barrier shared
          B[t] = S[(t * 7 % 48) * 300]
        }
      }
    }
  }
})",
           // Axes that no device has: they go one behind the other.
           R"(kernel deep(A: f32[48], B: f32[48]) {
  bound for y in 2 on thread.y { bound for z in 70 on thread.z {
    if (z < 24) { B[z * 2 + y] = A[y * 24 + z] }
  } }
})"}) {
    const auto kernel = parse_kernel(text);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    kernels.push_back(*kernel);
  }
  expect_agreement(kernels);
}

TEST(EmulatedCuda, TensorIntrinsics) {
  const auto kernel = parse_kernel(R"(kernel tiles(A: f32[48], B: f32[48], C: f32[48]) {
  alloc a: f32[16] register { alloc b: f32[16] register { alloc c: f32[16] register {
    for i in 16 { a[i] = cast<f32>(i) }
    for i in 16 { b[i] = cast<f32>(i * 3) }
    for i in 16 { c[i] = 1.0f32 }
    eval @mma_4x4x4_f32<i32>(c[0], 4, 1, a[0], 4, 1, b[0], 4, 1)
    for i in 16 { C[i] = c[i] }
  } } }
})");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_agreement({*kernel});
}

// The emulation multiplies what the PTX manual says that lanes hold; the interpreter goes by the
// declared tables.
TEST(EmulatedCuda, InstructionsOfWarps) {
  const std::vector<Kernel> kernels = warp_kernels();
  const EmulatedKernels emulated(kernels);
  Rng rng(5);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<Array> arrays;
    for (const Buffer& buffer : kernels[k].params) {
      arrays.emplace_back(buffer->type, buffer->shape);
      for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
        arrays.back().set_real(i, 2 * rng.uniform() - 1);
      }
    }
    std::vector<Array> expected = arrays;
    const auto findings = run_launches(kernels[k], expected, 2);
    ASSERT_TRUE(findings.ok()) << findings.error().message << to_string(kernels[k]);
    ASSERT_TRUE(findings->empty()) << findings->front().text << to_string(kernels[k]);
    const std::vector<Array> got = emulated.run(k, arrays);
    for (std::int64_t i = 0; i < 128; ++i) {
      ASSERT_NEAR(got.back().real(i), expected.back().real(i), 1e-5)
          << i << " of " << kernels[k].name << emulated.text(k);
    }
  }
}

}  // namespace
}  // namespace attune::cuda
