// Kernels with asynchronous copies and one mistake each: the interpreter of launches finds it, and
// says of which kind it is.
#include <gtest/gtest.h>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "tests/support/defects/launch_defects.h"
#include "tests/support/defects/mutate_kernel.h"
#include "tests/support/defects/mutate_pipeline.h"

namespace attune::test {
namespace {

using ir::Expr;
using ir::FindingKind;
using ir::Kernel;

// Tiles of a product, fetched ahead by all threads of a block.
constexpr const char* kProgram = R"(program product {
  input a: f32[16, 24]
  input b: f32[24, 16]
  stage anchor(i: 16, j: 16) = sum(k: 24) a[i, k] * b[k, j]
  stage 'output'(i: 16, j: 16) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";
const std::string kTiles = R"(split output i 4 2
split output j 4 2
reorder output i.0 j.0 i.1 j.1 i.2 j.2
bind output i.0 block.y
bind output j.0 block.x
bind output i.1 thread.y
bind output j.1 thread.x
compute_at anchor output j.1
set_scope anchor register
split anchor k 4
reorder anchor k.0 k.1 i j
cache_read a anchor
compute_at cache.a anchor k.0
set_scope cache.a shared
split cache.a i0 4
bind cache.a i0.1 thread.y
bind cache.a i1 thread.x
cache_read b anchor
compute_at cache.b anchor k.0
set_scope cache.b shared
split cache.b i1 4
bind cache.b i0 thread.y
bind cache.b i1.1 thread.x
)";
const KernelSource kThree{kProgram, kTiles + "pipeline cache.a 3\npipeline cache.b 3\n"};
const KernelSource kTwo{kProgram, kTiles + "pipeline cache.a 2\npipeline cache.b 2\n"};

// A row with a padding, four elements at once.
const KernelSource kWide{R"(program padded {
  input x: f32[56]
  stage pad(i: 64) = select(i >= 4 && i < 60, x[i - 4], 0.0f32)
  stage 'output'(i: 4) = sum(k: 16) pad[k * 4 + i]
  output 'output'
}
)",
                         R"(bind output i thread.x
split output k 4
compute_at pad output k.0
set_scope pad shared
split pad i 4
bind pad i.0 thread.x
vectorize pad i.1
pipeline pad 3
)"};

// One whose elements are computed on the way, through registers.
const KernelSource kStaged{R"(program scaled {
  input x: f32[64]
  stage twice(i: 64) = x[i] * 2.0f32
  stage 'output'(i: 4) = sum(k: 16) twice[k * 4 + i]
  output 'output'
}
)",
                           R"(bind output i thread.x
split output k 4
compute_at twice output k.0
set_scope twice shared
split twice i 4
bind twice i.0 thread.x
pipeline twice 2
)"};

constexpr const char* kLoop = "anchor_k_0";
const auto kCopy = ir::kAsyncCopy, kCommit = ir::kAsyncCommit, kWait = ir::kAsyncWait;

// Calls in the order of the text: the copies of a and b and the commit of the first iterations, the
// wait of the loop, its copies, its commit.
using K = const Kernel&;
using F = FindingKind;
const std::vector<Defect> kDefects = {
    {"three: no wait", kThree, [](K k) { return drop_call(k, kWait, 0); }, F::PendingCopy},
    {"three: wait leaves one group too many", kThree,
     [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingCopy},
    {"three: one thread alone waits", kThree, [](K k) { return diverge_call(k, kWait, 0); },
     F::PendingCopy},
    {"three: no barrier behind the wait", kThree, [](K k) { return drop_barrier(k, 0); },
     F::MissingBarrier},
    {"three: barrier in front of the wait", kThree, [](K k) { return swap_with_next(k, kWait, 0); },
     F::MissingBarrier},
    {"three: barrier diverges", kThree, [](K k) { return diverge_barrier(k, 0); },
     F::DivergentBarrier},
    {"three: no commit in the loop", kThree, [](K k) { return drop_call(k, kCommit, 1); },
     F::PendingCopy},
    {"three: no commit before the loop", kThree, [](K k) { return drop_call(k, kCommit, 0); },
     F::PendingCopy},
    {"three: one thread alone commits", kThree, [](K k) { return diverge_call(k, kCommit, 1); },
     F::PendingCopy},
    {"three: copies into the slot that is read", kThree,
     [](K k) { return change_argument(k, kCopy, 2, 0, iterations(kLoop, 1)); }, F::PendingCopy},
    {"three: copies into a slot that is on its way", kThree,
     [](K k) { return change_argument(k, kCopy, 3, 0, iterations(kLoop, -1)); }, F::PendingCopy},
    {"three: the next slot is read", kThree,
     [](K k) { return shift_reads(k, "cache.a", kLoop, 1); }, F::PendingCopy},
    {"three: the last slot is read", kThree,
     [](K k) { return shift_reads(k, "cache.b", kLoop, 2); }, F::PendingCopy},
    {"three: a copy one iteration late", kThree,
     [](K k) {
       return change_argument(change_argument(k, kCopy, 2, 0, iterations(kLoop, -1)), kCopy, 2, 1,
                              iterations(kLoop, -1));
     },
     F::PendingCopy},
    {"three: the first tiles of a are not fetched", kThree,
     [](K k) { return drop_call(k, kCopy, 0); }, F::Uninitialised},
    {"three: later tiles of b are not fetched", kThree, [](K k) { return drop_call(k, kCopy, 3); },
     F::Uninitialised},
    {"three: fetches beyond the end", kThree, [](K k) { return drop_condition_on(k, kLoop); },
     F::OutOfBounds},
    {"three: a slot too few", kThree, [](K k) { return shrink(k, "cache.a", 32); }, F::OutOfBounds},
    {"three: one copy by two threads", kThree,
     [](K k) {
       return change_argument(k, kCopy, 2, 0, [](const Expr& e) {
         return ir::substitute(e, {{"output_thread_x", ir::var("output_thread_x") / Expr(2)}});
       });
     },
     F::PendingCopy},
    {"two: no wait", kTwo, [](K k) { return drop_call(k, kWait, 0); }, F::PendingCopy},
    {"two: wait leaves one group", kTwo,
     [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingCopy},
    {"two: no barrier", kTwo, [](K k) { return drop_barrier(k, 0); }, F::MissingBarrier},
    {"two: copies into the slot that is read", kTwo,
     [](K k) { return change_argument(k, kCopy, 2, 0, iterations(kLoop, 1)); }, F::PendingCopy},
    {"wide: copies one element too far", kWide,
     [](K k) { return change_argument(k, kCopy, 1, 0, elements(1)); }, F::Misaligned},
    {"wide: the padding is read", kWide,
     [](K k) {
       return change_argument(k, kCopy, 0, 3, [](const Expr&) { return ir::bool_imm(true); });
     },
     F::OutOfBounds},
    {"wide: copies of two elements for four", kWide,
     [](K k) { return change_argument(k, kCopy, 0, 2, [](const Expr&) { return Expr(2); }); },
     F::Uninitialised},
    {"staged: no barrier", kStaged, [](K k) { return drop_barrier(k, 0); }, F::MissingBarrier},
    {"staged: stored into the slot that is read", kStaged,
     [](K k) { return shift_writes(k, "twice", "output_k_0", 1); }, F::MissingBarrier},
    {"staged: nothing is fetched into registers", kStaged,
     [](K k) { return drop_first_store(k, "twice.ahead"); }, F::Uninitialised},
};

TEST(PipelineDefects, TheKernelsAreRightWithoutThem) {
  for (const KernelSource* source : {&kThree, &kTwo, &kWide, &kStaged}) {
    expect_no_findings(lowered(*source));
  }
}

TEST(PipelineDefects, AreEachFoundAndNamed) {
  EXPECT_GE(kDefects.size(), 25u);
  expect_each_found(kDefects);
}

TEST(PipelineDefects, AllBuffersCountAsSharedMemory) {
  ir::LaunchOptions options;
  options.limits.shared_bytes = 700;
  const auto findings = run_kernel(lowered(kThree), options).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "launch 0 needs 768 bytes of shared memory in a block, the device has 700");
}

}  // namespace
}  // namespace attune::test
