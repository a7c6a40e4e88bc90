// Products by instructions of warpgroups with one mistake each: the interpreter of launches finds
// it, and says of which kind it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/nodes/intrinsics.h"
#include "tests/support/defects/launch_defects.h"
#include "tests/support/defects/mutate_kernel.h"
#include "tests/support/defects/mutate_pipeline.h"

namespace attune::test {
namespace {

using ir::Expr;
using ir::FindingKind;
using ir::Kernel;

constexpr const char* kProgram = R"(program product {
  input a: f16[128, 96]
  input b: f16[32, 96]
  stage anchor(i: 128, j: 32) = sum(k: 96) cast<f32>(a[i, k]) * cast<f32>(b[j, k])
  stage 'output'(i: 128, j: 32) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";
// Two warpgroups, one above the other.
const std::string kTiles = R"(split output i 2 32 2
split output j 4 8
reorder output i.0 j.0 i.1 i.2 j.1 i.3 j.2
fuse output i.2 j.1
bind output i.0 block.y
bind output j.0 block.x
bind output i.1 thread.y
bind output i.2*j.1 thread.x
compute_at anchor output i.2*j.1
set_scope anchor register
split anchor k 1 16
reorder anchor k.0 k.1 i j k.2
cache_read a anchor
compute_at cache.a anchor k.0
set_scope cache.a shared
layout cache.a i1/8 i0/16 i0%2 i0/2%8 i1%8
storage_gap cache.a 8
split cache.a i0 128
split cache.a i1 2 8
bind cache.a i0.1 thread.x
bind cache.a i1.1 thread.y
vectorize cache.a i1.2
cache_read b anchor
compute_at cache.b anchor k.0
set_scope cache.b shared
layout cache.b i1/8 i0/32 i0/2%4 i0/8%4 i0%2 i1%8
split cache.b i0 32
split cache.b i1 2 8
bind cache.b i0.1 thread.x
bind cache.b i1.1 thread.y
vectorize cache.b i1.2
)";
const std::string kMma = "tensorize anchor i wgmma_64x32x16_f16\n";
const KernelSource kThree{kProgram, kTiles + "pipeline cache.a 3\npipeline cache.b 3\n" + kMma};
const KernelSource kTwo{kProgram, kTiles + "pipeline cache.a 2\npipeline cache.b 2\n" + kMma};
const KernelSource kPlain{kProgram, kTiles + kMma};

constexpr const char* kLoop = "anchor_k_0";
constexpr const char* kCall = "wgmma_64x32x16_f16";
const auto kCopy = ir::kAsyncCopy, kWaitCopies = ir::kAsyncWait;
const auto kFence = ir::kMatrixFence, kCommit = ir::kMatrixCommit, kWait = ir::kMatrixWait;
const auto kShared = ir::kSharedFence;

// Calls in the order of the text: the copies and the commit of the first iterations; in the loop
// the wait for copies, the fence before the barrier, the group of instructions, copies, the wait;
// and the last wait.
using K = const Kernel&;
using F = FindingKind;
const std::vector<Defect> kDefects = {
    {"no wait for copies", kThree, [](K k) { return drop_call(k, kWaitCopies, 0); },
     F::PendingCopy},
    {"the wait leaves a group of copies too many", kThree,
     [](K k) { return change_argument(k, kWaitCopies, 0, 0, another(1)); }, F::PendingCopy},
    {"no fence of shared memory", kThree, [](K k) { return drop_call(k, kShared, 0); },
     F::MissingFence},
    {"one thread alone fences shared memory", kThree,
     [](K k) { return diverge_call(k, kShared, 0); }, F::MissingFence},
    {"the fence of shared memory behind the barrier", kThree,
     [](K k) { return swap_with_next(k, kShared, 0); }, F::MissingFence},
    {"the fence of shared memory before the wait for copies", kThree,
     [](K k) { return swap_with_next(k, kWaitCopies, 0); }, F::MissingFence},
    {"no barrier", kThree, [](K k) { return drop_barrier(k, 0); }, F::MissingBarrier},
    {"no fence of registers", kThree, [](K k) { return drop_call(k, kFence, 0); }, F::MissingFence},
    {"one thread alone fences registers", kThree, [](K k) { return diverge_call(k, kFence, 0); },
     F::DivergentWarp},
    {"the group is not closed", kThree, [](K k) { return drop_call(k, kCommit, 0); },
     F::UnwaitedMatrix},
    {"one thread alone closes the group", kThree, [](K k) { return diverge_call(k, kCommit, 0); },
     F::DivergentWarp},
    {"no wait for instructions in the loop", kThree, [](K k) { return drop_call(k, kWait, 0); },
     F::PendingMatrix},
    {"the wait leaves a group of instructions too many", kThree,
     [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingMatrix},
    {"one thread alone waits for instructions", kThree,
     [](K k) { return diverge_call(k, kWait, 0); }, F::DivergentWarp},
    {"no last wait for instructions", kThree, [](K k) { return drop_call(k, kWait, 1); },
     F::PendingMatrix},
    {"the last wait leaves a group", kThree,
     [](K k) { return change_argument(k, kWait, 1, 0, another(1)); }, F::PendingMatrix},
    {"one lane does not take part", kThree, [](K k) { return diverge_call(k, kCall, 0); },
     F::DivergentWarp},
    {"lanes name different matrices", kThree,
     [](K k) {
       return change_argument(k, kCall, 0, 3,
                              elements(ir::var("output_thread_x") / Expr(64) * Expr(8)));
     },
     F::DivergentWarp},
    {"a matrix that does not begin at 16 bytes", kThree,
     [](K k) { return change_argument(k, kCall, 0, 6, elements(Expr(4))); }, F::Misaligned},
    {"groups of rows too far apart", kThree,
     [](K k) { return change_argument(k, kCall, 0, 5, another(16384)); }, F::OutOfBounds},
    {"columns of terms too far apart", kThree,
     [](K k) { return change_argument(k, kCall, 0, 7, another(8192)); }, F::OutOfBounds},
    {"results that nobody began", kThree, [](K k) { return drop_first_store(k, "anchor"); },
     F::Uninitialised},
    {"copies into the slot that instructions read", kThree,
     [](K k) { return change_argument(k, kCopy, 2, 0, iterations(kLoop, -1)); }, F::PendingMatrix},
    {"copies into the slot of the iteration before", kThree,
     [](K k) { return change_argument(k, kCopy, 3, 0, iterations(kLoop, 1)); }, F::Uninitialised},
    {"the next slot is read", kThree,
     [](K k) { return change_argument(k, kCall, 0, 3, iterations(kLoop, 1)); }, F::Uninitialised},
    {"a slot too few", kThree, [](K k) { return shrink(k, "cache.b", 64); }, F::OutOfBounds},
    {"fetches beyond the end", kThree, [](K k) { return drop_condition_on(k, kLoop); },
     F::OutOfBounds},
    {"two buffers: no wait for instructions", kTwo, [](K k) { return drop_call(k, kWait, 0); },
     F::PendingMatrix},
    {"two buffers: the wait leaves a group", kTwo,
     [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingMatrix},
    {"one buffer: no wait for instructions", kPlain, [](K k) { return drop_call(k, kWait, 0); },
     F::PendingMatrix},
    {"one buffer: no barrier behind what was read", kPlain, [](K k) { return drop_barrier(k, 1); },
     F::MissingBarrier},
    {"one buffer: no fence of shared memory", kPlain, [](K k) { return drop_call(k, kShared, 0); },
     F::MissingFence},
};

TEST(WarpgroupDefects, TheKernelsAreRightWithoutThem) {
  for (const KernelSource* source : {&kThree, &kTwo, &kPlain}) {
    const LaunchRun run = expect_no_findings(lowered(*source));
    const ir::Array &a = run.arrays[0], &b = run.arrays[1], &got = run.arrays[2];
    for (std::int64_t i = 0; i < 128; ++i) {
      for (std::int64_t j = 0; j < 32; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < 96; ++k) sum += a.real(i * 96 + k) * b.real(j * 96 + k);
        ASSERT_EQ(got.real(i * 32 + j), std::max(sum, 0.0)) << i << ", " << j;
      }
    }
  }
}

TEST(WarpgroupDefects, AreEachFoundAndNamed) {
  EXPECT_GE(kDefects.size(), 30u);
  expect_each_found(kDefects);
}

}  // namespace
}  // namespace attune::test
