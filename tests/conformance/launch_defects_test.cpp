// Kernels with one mistake each: the interpreter of launches finds it, and says of which kind it
// is.
#include <gtest/gtest.h>

#include "tests/support/defects/launch_defects.h"
#include "tests/support/defects/mutate_kernel.h"

namespace attune::test {
namespace {

using ir::FindingKind;
using ir::Kernel;

// Tiles of a product: operands fetched into shared memory by all threads of a block, sums in
// registers.
const KernelSource kProduct{R"(program product {
  input a: f32[16, 12]
  input b: f32[12, 16]
  stage anchor(i: 16, j: 16) = sum(k: 12) a[i, k] * b[k, j]
  stage 'output'(i: 16, j: 16) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)",
                            R"(split output i 4 2
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
)"};

// Sums of rows: each thread adds up a part in shared memory, one thread adds up the parts.
const KernelSource kRows{R"(program rows {
  input x: f32[6, 64]
  stage 'output'(i: 6) = sum(k: 64) x[i, k]
  output 'output'
}
)",
                         R"(split output k 16
rfactor output k.1
bind output i block.x
compute_at rf.output output i
set_scope rf.output shared
bind rf.output k_1 thread.x
)"};

// A window over a row: twelve threads fetch what ten of them use.
const KernelSource kWindow{R"(program window {
  input x: f32[32]
  stage wide(i: 32) = x[i] * 2.0f32
  stage 'output'(i: 30) = wide[i] + wide[i + 1] + wide[i + 2]
  output 'output'
}
)",
                           R"(split output i 10
bind output i.0 block.x
bind output i.1 thread.x
compute_at wide output i.0
set_scope wide shared
bind wide i thread.x
)"};

using K = const Kernel&;
using F = FindingKind;
const std::vector<Defect> kDefects = {
    {"product: no barrier before tiles are used", kProduct, [](K k) { return drop_barrier(k, 0); },
     F::MissingBarrier},
    {"product: no barrier before tiles are overwritten", kProduct,
     [](K k) { return drop_barrier(k, 1); }, F::MissingBarrier},
    {"product: first barrier diverges", kProduct, [](K k) { return diverge_barrier(k, 0); },
     F::DivergentBarrier},
    {"product: second barrier diverges", kProduct, [](K k) { return diverge_barrier(k, 1); },
     F::DivergentBarrier},
    {"product: tile of a in registers", kProduct,
     [](K k) { return set_scope(k, "cache.a", ir::Scope::Register); }, F::OutOfScope},
    {"product: tile of b on the stack", kProduct,
     [](K k) { return set_scope(k, "cache.b", ir::Scope::Stack); }, F::OutOfScope},
    {"product: sums in shared memory", kProduct,
     [](K k) { return set_scope(k, "anchor", ir::Scope::Shared); }, F::MissingBarrier},
    {"product: tile of a too small", kProduct, [](K k) { return shrink(k, "cache.a", 1); },
     F::OutOfBounds},
    {"product: tile of b too small", kProduct, [](K k) { return shrink(k, "cache.b", 5); },
     F::OutOfBounds},
    {"product: too few sums", kProduct, [](K k) { return shrink(k, "anchor", 1); }, F::OutOfBounds},
    {"product: tile of a allocated around the launch", kProduct,
     [](K k) { return hoist_allocation(k, "cache.a"); }, F::OutOfScope},
    {"product: sums allocated around the launch", kProduct,
     [](K k) { return hoist_allocation(k, "anchor"); }, F::OutOfScope},
    {"product: a read one too far", kProduct, [](K k) { return shift_loads(k, "a", 1); },
     F::OutOfBounds},
    {"product: tile of b read one too far", kProduct,
     [](K k) { return shift_loads(k, "cache.b", 1); }, F::OutOfBounds},
    {"product: tile of a filled one too far", kProduct,
     [](K k) { return shift_stores(k, "cache.a", 1); }, F::OutOfBounds},
    {"product: output written one too far", kProduct,
     [](K k) { return shift_stores(k, "output", 1); }, F::OutOfBounds},
    {"product: tile of a filled by two threads at once", kProduct,
     [](K k) { return merge_stores(k, "cache.a", "thread.x", 2); }, F::WriteRace},
    {"product: output written by two threads", kProduct,
     [](K k) { return merge_stores(k, "output", "thread.y", 2); }, F::WriteRace},
    {"product: output written by two blocks", kProduct,
     [](K k) { return merge_stores(k, "output", "block.x", 2); }, F::BlockRace},
    {"product: sums do not start", kProduct, [](K k) { return drop_first_store(k, "anchor"); },
     F::Uninitialised},
    {"product: a tile is not fetched", kProduct, [](K k) { return drop_first_store(k, "cache.a"); },
     F::Uninitialised},
    {"product: too few threads fetch", kProduct,
     [](K k) { return change_extent(k, "thread.x", -1); }, F::Uninitialised},
    {"product: too many threads", kProduct, [](K k) { return change_extent(k, "thread.y", 1); },
     F::OutOfBounds},
    {"product: too many blocks", kProduct, [](K k) { return change_extent(k, "block.y", 1); },
     F::OutOfBounds},
    {"product: an axis of threads is forgotten", kProduct,
     [](K k) { return unbind(k, "thread.y"); }, F::Uninitialised},
    {"rows: no barrier before parts are added up", kRows, [](K k) { return drop_barrier(k, 0); },
     F::MissingBarrier},
    {"rows: all threads add up the parts", kRows, [](K k) { return drop_conditions(k, "output"); },
     F::MissingBarrier},
    {"rows: parts in registers", kRows,
     [](K k) { return set_scope(k, "rf.output", ir::Scope::Register); }, F::OutOfScope},
    {"rows: parts do not start", kRows, [](K k) { return drop_first_store(k, "rf.output"); },
     F::Uninitialised},
    {"rows: two threads have one part", kRows,
     [](K k) { return merge_stores(k, "rf.output", "thread.x", 2); }, F::MissingBarrier},
    {"rows: too few parts", kRows, [](K k) { return shrink(k, "rf.output", 1); }, F::OutOfBounds},
    {"rows: all blocks write one sum", kRows,
     [](K k) { return merge_stores(k, "output", "block.x", 8); }, F::BlockRace},
    {"rows: barrier diverges", kRows, [](K k) { return diverge_barrier(k, 0); },
     F::DivergentBarrier},
    {"window: no barrier after the fetch", kWindow, [](K k) { return drop_barrier(k, 0); },
     F::MissingBarrier},
    {"window: all twelve threads compute", kWindow,
     [](K k) { return drop_conditions(k, "output"); }, F::OutOfBounds},
    {"window: ten threads fetch", kWindow, [](K k) { return change_extent(k, "thread.x", -2); },
     F::Uninitialised},
    {"window: window in registers", kWindow,
     [](K k) { return set_scope(k, "wide", ir::Scope::Register); }, F::OutOfScope},
    {"window: read beyond its end", kWindow, [](K k) { return shift_loads(k, "wide", 1); },
     F::OutOfBounds},
    {"window: neighbours write one place", kWindow,
     [](K k) { return merge_stores(k, "wide", "thread.x", 3); }, F::WriteRace},
    {"window: blocks write one place", kWindow,
     [](K k) { return merge_stores(k, "output", "block.x", 3); }, F::BlockRace},
};

TEST(LaunchDefects, TheKernelsAreRightWithoutThem) {
  for (const KernelSource* source : {&kProduct, &kRows, &kWindow}) {
    expect_no_findings(lowered(*source));
  }
}

TEST(LaunchDefects, AreEachFoundAndNamed) {
  EXPECT_GE(kDefects.size(), 30u);
  expect_each_found(kDefects);
}

TEST(LaunchDefects, LaunchesKeepToTheDevice) {
  const Kernel kernel = lowered(kProduct);
  const auto limited = [&](auto change) {
    ir::LaunchOptions options;
    change(options.limits);
    const auto findings = run_kernel(kernel, options).findings;
    return findings.empty() ? std::string() : findings[0].text;
  };
  EXPECT_EQ(limited([](auto& limits) { limits.threads_per_block = 8; }),
            "launch 0 needs 16 threads in a block, the device has 8");
  EXPECT_EQ(limited([](auto& limits) { limits.shared_bytes = 200; }),
            "launch 0 needs 256 bytes of shared memory in a block, the device has 200");
  EXPECT_EQ(limited([](auto& limits) { limits.register_bytes = 8; }),
            "launch 0 needs 16 bytes of registers in a thread, the device has 8");
}

}  // namespace
}  // namespace attune::test
