// Products by matrix instructions of warps with one mistake each: the interpreter of launches finds
// it, and says of which kind it is.
#include <gtest/gtest.h>

#include "tests/support/defects/launch_defects.h"
#include "tests/support/defects/mutate_kernel.h"
#include "tests/support/defects/mutate_pipeline.h"

namespace attune::test {
namespace {

using ir::Expr;
using ir::FindingKind;
using ir::Kernel;

const KernelSource kProduct{R"(program product {
  input a: f16[32, 48]
  input b: f16[48, 16]
  stage anchor(i: 32, j: 16) = sum(k: 48) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  stage 'output'(i: 32, j: 16) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)",
                            // Two warps, each with two tiles side by side.
                            R"(split output i 2 8 2
split output j 4 4
reorder output i.0 j.0 i.1 i.2 j.1 i.3 j.2
fuse output i.2 j.1
bind output i.0 block.y
bind output j.0 block.x
bind output i.1 thread.y
bind output i.2*j.1 thread.x
compute_at anchor output i.2*j.1
set_scope anchor register
split anchor j 2
split anchor k 16
reorder anchor k.0 j.0 i j.1 k.1
cache_read a anchor
compute_at cache.a anchor k.0
set_scope cache.a shared
split cache.a i1 4
bind cache.a i0 thread.x
vectorize cache.a i1.1
pipeline cache.a 2
cache_read b anchor
compute_at cache.b anchor k.0
set_scope cache.b shared
split cache.b i1 4
bind cache.b i0 thread.x
vectorize cache.b i1.1
pipeline cache.b 2
tensorize anchor i mma_16x8x16_f16
)"};
constexpr std::string_view kMma = "mma_16x8x16_f16";

const std::vector<Defect>& defects() {
  using K = const Kernel&;
  using F = FindingKind;
  // Arguments: c and its strides, a and its strides and step, b and its strides and step.
  static const Expr lane = ir::var("output_thread_x");
  static const std::vector<Defect> all = {
      {"one lane alone multiplies", kProduct, [](K k) { return diverge_call(k, kMma, 0); },
       F::DivergentWarp},
      {"a lane is missing", kProduct, [](K k) { return change_extent(k, "thread.x", -1); },
       F::DivergentWarp},
      {"lanes take rows of their own", kProduct,
       [](K k) { return change_argument(k, kMma, 0, 3, elements(lane / Expr(4) * Expr(16))); },
       F::DivergentWarp},
      {"lanes take columns of their own", kProduct,
       [](K k) { return change_argument(k, kMma, 0, 7, elements(lane % Expr(4) * Expr(2))); },
       F::DivergentWarp},
      {"steps of rows are too long", kProduct,
       [](K k) { return change_argument(k, kMma, 0, 6, [](Expr e) { return e * Expr(8); }); },
       F::PendingCopy},
      {"terms lie too far apart", kProduct,
       [](K k) { return change_argument(k, kMma, 0, 8, [](Expr e) { return e * Expr(4); }); },
       F::PendingCopy},
      {"sums do not start", kProduct, [](K k) { return drop_first_store(k, "anchor"); },
       F::Uninitialised},
      {"sums of another tile", kProduct, [](K k) { return shrink(k, "anchor", 1); },
       F::OutOfBounds},
      {"sums in shared memory", kProduct,
       [](K k) { return set_scope(k, "anchor", ir::Scope::Shared); }, F::MissingBarrier},
      {"operands are not waited for", kProduct, [](K k) { return drop_call(k, "async_wait", 0); },
       F::PendingCopy},
      {"no barrier before operands are read", kProduct, [](K k) { return drop_barrier(k, 0); },
       F::MissingBarrier},
      {"the other slot is multiplied", kProduct,
       [](K k) { return change_argument(k, kMma, 0, 3, elements(Expr(32 * 16))); }, F::PendingCopy},
  };
  return all;
}

TEST(WarpDefects, TheKernelIsRightWithoutThem) { expect_no_findings(lowered(kProduct)); }

TEST(WarpDefects, AreEachFoundAndNamed) {
  EXPECT_GE(defects().size(), 12u);
  expect_each_found(defects());
}

TEST(WarpDefects, AFindingNamesTheThread) {
  const auto findings = run_kernel(diverge_call(lowered(kProduct), kMma, 0)).findings;
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].text,
            "thread (1, 0, 0) of block (0, 0, 0) does not take part in 'mma_16x8x16_f16' of its "
            "warp, which has 1 lanes there");
}

}  // namespace
}  // namespace attune::test
