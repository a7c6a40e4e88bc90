// Products by matrix instructions of warps with one mistake each: the interpreter of launches finds
// it, and says of which kind it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/trace.h"
#include "tests/support/mutate_kernel.h"
#include "tests/support/mutate_pipeline.h"

namespace attune::test {
namespace {

using ir::Expr;
using ir::FindingKind;
using ir::Kernel;

constexpr const char* kProgram = R"(program product {
  input a: f16[32, 48]
  input b: f16[48, 16]
  stage anchor(i: 32, j: 16) = sum(k: 48) cast<f32>(a[i, k]) * cast<f32>(b[k, j])
  stage 'output'(i: 32, j: 16) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";
// Two warps, each with two tiles side by side.
const std::string kTrace = R"(split output i 2 8 2
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
)";
constexpr std::string_view kMma = "mma_16x8x16_f16";

Kernel lowered() {
  const auto program = ir::parse_program(kProgram);
  const auto state = schedule::replay(*program, schedule::parse_trace(kTrace).value());
  EXPECT_TRUE(state.ok()) << state.error().message;
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto result = lower::lower(*state, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result->main;
}

std::vector<ir::Finding> findings_of(const Kernel& kernel) {
  std::vector<ir::Array> arrays;
  for (const ir::Buffer& param : kernel.params) {
    arrays.emplace_back(param->type, param->shape);
    for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
      arrays.back().set_real(i, static_cast<double>(i % 17) - 8);
    }
  }
  const auto findings = ir::run_launches(kernel, arrays, static_cast<int>(arrays.size()) - 1);
  EXPECT_TRUE(findings.ok()) << findings.error().message;
  return findings.ok() ? *findings : std::vector<ir::Finding>();
}

struct Defect {
  const char* name;
  std::function<Kernel(const Kernel&)> mutate;
  FindingKind kind;
};

// The first element of an operand, moved by an expression.
auto moved(const Expr& by) {
  return [by](const Expr& e) {
    const auto* at = ir::as<ir::Load>(e);
    return ir::load(at->buffer, {at->index[0] + by});
  };
}

const std::vector<Defect>& defects() {
  using K = const Kernel&;
  using F = FindingKind;
  // Arguments: c and its strides, a and its strides and step, b and its strides and step.
  static const Expr lane = ir::var("output_thread_x");
  static const std::vector<Defect> all = {
      {"one lane alone multiplies", [](K k) { return diverge_call(k, kMma, 0); }, F::DivergentWarp},
      {"a lane is missing", [](K k) { return change_extent(k, "thread.x", -1); }, F::DivergentWarp},
      {"lanes take rows of their own",
       [](K k) { return change_argument(k, kMma, 0, 3, moved(lane / Expr(4) * Expr(16))); },
       F::DivergentWarp},
      {"lanes take columns of their own",
       [](K k) { return change_argument(k, kMma, 0, 7, moved(lane % Expr(4) * Expr(2))); },
       F::DivergentWarp},
      {"steps of rows are too long",
       [](K k) { return change_argument(k, kMma, 0, 6, [](Expr e) { return e * Expr(8); }); },
       F::PendingCopy},
      {"terms lie too far apart",
       [](K k) { return change_argument(k, kMma, 0, 8, [](Expr e) { return e * Expr(4); }); },
       F::PendingCopy},
      {"sums do not start", [](K k) { return drop_first_store(k, "anchor"); }, F::Uninitialised},
      {"sums of another tile", [](K k) { return shrink(k, "anchor", 1); }, F::OutOfBounds},
      {"sums in shared memory", [](K k) { return set_scope(k, "anchor", ir::Scope::Shared); },
       F::MissingBarrier},
      {"operands are not waited for", [](K k) { return drop_call(k, "async_wait", 0); },
       F::PendingCopy},
      {"no barrier before operands are read", [](K k) { return drop_barrier(k, 0); },
       F::MissingBarrier},
      {"the other slot is multiplied",
       [](K k) { return change_argument(k, kMma, 0, 3, moved(Expr(32 * 16))); }, F::PendingCopy},
  };
  return all;
}

TEST(WarpDefects, TheKernelIsRightWithoutThem) {
  const Kernel kernel = lowered();
  for (const ir::Finding& finding : findings_of(kernel)) {
    ADD_FAILURE() << to_string(finding.kind) << ": " << finding.text << "\n"
                  << ir::to_string(kernel);
  }
}

TEST(WarpDefects, AreEachFoundAndNamed) {
  EXPECT_GE(defects().size(), 12u);
  for (const Defect& defect : defects()) {
    SCOPED_TRACE(defect.name);
    const Kernel kernel = lowered();
    const Kernel broken = defect.mutate(kernel);
    ASSERT_NE(ir::to_string(kernel), ir::to_string(broken)) << "nothing was mutated";
    std::string found;
    bool named = false;
    for (const ir::Finding& finding : findings_of(broken)) {
      named |= finding.kind == defect.kind;
      found += fmt::format("{}: {}\n", to_string(finding.kind), finding.text);
    }
    EXPECT_TRUE(named) << "expected: " << to_string(defect.kind) << "\nfound:\n"
                       << found << ir::to_string(broken);
  }
}

TEST(WarpDefects, AFindingNamesTheThread) {
  const auto findings = findings_of(diverge_call(lowered(), kMma, 0));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].text,
            "thread (1, 0, 0) of block (0, 0, 0) does not take part in 'mma_16x8x16_f16' of its "
            "warp, which has 1 lanes there");
}

}  // namespace
}  // namespace attune::test
