// Products whose weights come in bulk copies that two blocks of a cluster share, with one mistake
// each: the interpreter of launches finds it, and says of which kind it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/text/print.h"
#include "tests/support/defects/launch_defects.h"
#include "tests/support/defects/mutate_kernel.h"
#include "tests/support/defects/mutate_pipeline.h"

namespace attune::test {
namespace {

using ir::Expr;
using ir::FindingKind;
using ir::Kernel;

// Weights lie as they do in shared memory, slab by slab.
constexpr const char* kProgram = R"(program product {
  input a: f16[128, 96]
  constant b: f16[96, 32]
  stage filter(k: 96, j: 32) = b[k, j]
  stage anchor(i: 128, j: 32) = sum(k: 96) cast<f32>(a[i, k]) * cast<f32>(filter[k, j])
  stage 'output'(i: 128, j: 32) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";
std::string trace(const char* blocks) {
  return fmt::format(R"(split output i 1 32 2
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
split cache.a i1 2 8
reorder cache.a i1.0 i0 i1.1 i1.2
fuse cache.a i0 i1.1
bind cache.a i0*i1.1 thread.x
vectorize cache.a i1.2
layout filter j/32 k/16 k/8%2 j/2%4 j/8%4 j%2 k%8
cache_read filter anchor
compute_at cache.filter anchor k.0
set_scope cache.filter shared
layout cache.filter k/8 j/32 j/2%4 j/8%4 j%2 k%8
split cache.filter k 8
split cache.filter j 4 4 2
reorder cache.filter k.0 j.0 j.2 j.1 j.3 k.1
fuse cache.filter k.0 j.0 j.2 j.1 j.3
fuse cache.filter k.0*j.0*j.2*j.1*j.3 k.1
split cache.filter k.0*j.0*j.2*j.1*j.3*k.1 128
bind cache.filter k.0*j.0*j.2*j.1*j.3*k.1.1 thread.x
annotate cache.filter * bulk {}
pipeline cache.a 3
pipeline cache.filter 3
tensorize anchor i wgmma_64x32x16_f16
)",
                     blocks);
}

const KernelSource kOne{kProgram, trace("1")}, kTwo{kProgram, trace("2")};

constexpr const char* kLoop = "anchor_k_0";
const auto kInit = ir::kBulkInit, kCopy = ir::kBulkCopy, kWait = ir::kBulkWait;
const auto kMeet = ir::kClusterBarrier;

// Calls in the order of the text: counters, the cluster meets, the copy of the first iteration; in
// the loop the wait, the cluster meets, the copy of the next one.
const std::vector<Defect>& defects() {
  using K = const Kernel&;
  using F = FindingKind;
  static const std::vector<Defect> all = {
      {"counters are not made ready", kTwo, [](K k) { return drop_call(k, kInit, 0); },
       F::Uninitialised},
      {"a counter too few", kTwo,
       [](K k) { return change_argument(k, kInit, 0, 1, [](const Expr&) { return Expr(2); }); },
       F::Uninitialised},
      {"the cluster does not meet before the first copy", kTwo,
       [](K k) { return drop_call(k, kMeet, 0); }, F::MissingBarrier},
      {"the cluster does not meet in the loop", kTwo, [](K k) { return drop_call(k, kMeet, 1); },
       F::MissingBarrier},
      {"one thread alone meets the cluster", kTwo, [](K k) { return diverge_call(k, kMeet, 1); },
       F::DivergentBarrier},
      {"no wait for the copy", kTwo, [](K k) { return drop_call(k, kWait, 0); }, F::PendingCopy},
      {"the other parity", kTwo, [](K k) { return change_argument(k, kWait, 0, 1, another(1)); },
       F::PendingCopy},
      {"the same parity always", kTwo,
       [](K k) { return change_argument(k, kWait, 0, 1, [](const Expr&) { return Expr(0); }); },
       F::PendingCopy},
      {"waits at the next slot", kTwo,
       [](K k) { return change_argument(k, kWait, 0, 0, iterations(kLoop, 1)); }, F::EndlessWait},
      {"waits behind the barriers, one thread for all", kTwo,
       [](K k) {
         Kernel late = k;
         for (int i = 0; i < 3; ++i) late = swap_with_next(late, kWait, 0);
         return diverge_call(late, kWait, 0);
       },
       F::PendingCopy},
      {"the first slab is not copied", kTwo, [](K k) { return drop_call(k, kCopy, 0); },
       F::EndlessWait},
      {"later slabs are not copied", kTwo, [](K k) { return drop_call(k, kCopy, 1); },
       F::EndlessWait},
      {"counted at the next slot", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 3, iterations(kLoop, 1)); }, F::EndlessWait},
      {"copies into the slot that is read", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 0, iterations(kLoop, -1)); },
       F::PendingMatrix},
      {"copies into the slot of the iteration before", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 0, iterations(kLoop, 1)); }, F::Uninitialised},
      {"a copy that is too long", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 2, another(4096)); }, F::OutOfBounds},
      {"a copy that is too short", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 2, [](const Expr&) { return Expr(256); }); },
       F::Uninitialised},
      {"a source that is not aligned", kTwo,
       [](K k) { return change_argument(k, kCopy, 1, 1, elements(4)); }, F::Misaligned},
      {"a place that is not aligned", kTwo,
       [](K k) { return change_argument(k, kCopy, 0, 0, elements(4)); }, F::Misaligned},
      {"copies beyond the end", kTwo, [](K k) { return drop_condition_on(k, kLoop); },
       F::OutOfBounds},
  };
  return all;
}

TEST(BulkDefects, TheKernelsAreRightWithoutThem) {
  for (const KernelSource* source : {&kOne, &kTwo}) {
    const Kernel kernel = lowered(*source);
    const std::string text = ir::to_string(kernel);
    EXPECT_NE(text.find("@bulk_copy"), std::string::npos) << text;
    EXPECT_EQ(text.find("@cluster_barrier") != std::string::npos, source == &kTwo) << text;
    expect_no_findings(kernel);
  }
}

TEST(BulkDefects, AreEachFoundAndNamed) {
  EXPECT_GE(defects().size(), 20u);
  expect_each_found(defects());
}

}  // namespace
}  // namespace attune::test
