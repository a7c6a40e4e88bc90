// Kernels with asynchronous copies and one mistake each: the interpreter of launches finds it, and
// says of which kind it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/nodes/intrinsics.h"
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
const std::string kThree = kTiles + "pipeline cache.a 3\npipeline cache.b 3\n";
const std::string kTwo = kTiles + "pipeline cache.a 2\npipeline cache.b 2\n";

// A row with a padding, four elements at once.
constexpr const char* kPaddedRow = R"(program padded {
  input x: f32[56]
  stage pad(i: 64) = select(i >= 4 && i < 60, x[i - 4], 0.0f32)
  stage 'output'(i: 4) = sum(k: 16) pad[k * 4 + i]
  output 'output'
}
)";
const std::string kWide = R"(bind output i thread.x
split output k 4
compute_at pad output k.0
set_scope pad shared
split pad i 4
bind pad i.0 thread.x
vectorize pad i.1
pipeline pad 3
)";

// One whose elements are computed on the way, through registers.
constexpr const char* kScaledRow = R"(program scaled {
  input x: f32[64]
  stage twice(i: 64) = x[i] * 2.0f32
  stage 'output'(i: 4) = sum(k: 16) twice[k * 4 + i]
  output 'output'
}
)";
const std::string kStaged = R"(bind output i thread.x
split output k 4
compute_at twice output k.0
set_scope twice shared
split twice i 4
bind twice i.0 thread.x
pipeline twice 2
)";

Kernel lowered(const char* text, const std::string& trace) {
  const auto program = ir::parse_program(text);
  const auto state = schedule::replay(*program, schedule::parse_trace(trace).value());
  EXPECT_TRUE(state.ok()) << state.error().message;
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto result = lower::lower(*state, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result->main;
}

std::vector<ir::Finding> findings_of(const Kernel& kernel, const ir::LaunchOptions& options = {}) {
  std::vector<ir::Array> arrays;
  for (const ir::Buffer& param : kernel.params) {
    arrays.emplace_back(param->type, param->shape);
    for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
      arrays.back().set_real(i, static_cast<double>(i % 17) - 8);
    }
  }
  const auto findings =
      ir::run_launches(kernel, arrays, static_cast<int>(arrays.size()) - 1, options);
  EXPECT_TRUE(findings.ok()) << findings.error().message;
  return findings.ok() ? *findings : std::vector<ir::Finding>();
}

struct Defect {
  const char* name;
  const char* program;
  const std::string& trace;
  std::function<Kernel(const Kernel&)> mutate;
  FindingKind kind;
};

// Moves the element that a call names, or the iteration that it is for.
auto elements(std::int64_t by) {
  return [by](const Expr& e) {
    const auto* at = ir::as<ir::Load>(e);
    return ir::load(at->buffer, {at->index[0] + Expr(by)});
  };
}
auto iterations(std::int64_t by) {
  return [by](const Expr& e) {
    return ir::substitute(e, {{"anchor_k_0", ir::var("anchor_k_0") + Expr(by)}});
  };
}
auto another(std::int64_t by) {
  return [by](const Expr& e) { return e + Expr(by); };
}

constexpr const char* kLoop = "anchor_k_0";
const auto kCopy = ir::kAsyncCopy, kCommit = ir::kAsyncCommit, kWait = ir::kAsyncWait;

// Calls in the order of the text: the copies of a and b and the commit of the first iterations, the
// wait of the loop, its copies, its commit.
const std::vector<Defect>& defects() {
  using K = const Kernel&;
  using F = FindingKind;
  static const std::vector<Defect> all = {
      {"three: no wait", kProgram, kThree, [](K k) { return drop_call(k, kWait, 0); },
       F::PendingCopy},
      {"three: wait leaves one group too many", kProgram, kThree,
       [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingCopy},
      {"three: one thread alone waits", kProgram, kThree,
       [](K k) { return diverge_call(k, kWait, 0); }, F::PendingCopy},
      {"three: no barrier behind the wait", kProgram, kThree,
       [](K k) { return drop_barrier(k, 0); }, F::MissingBarrier},
      {"three: barrier in front of the wait", kProgram, kThree,
       [](K k) { return swap_with_next(k, kWait, 0); }, F::MissingBarrier},
      {"three: barrier diverges", kProgram, kThree, [](K k) { return diverge_barrier(k, 0); },
       F::DivergentBarrier},
      {"three: no commit in the loop", kProgram, kThree,
       [](K k) { return drop_call(k, kCommit, 1); }, F::PendingCopy},
      {"three: no commit before the loop", kProgram, kThree,
       [](K k) { return drop_call(k, kCommit, 0); }, F::PendingCopy},
      {"three: one thread alone commits", kProgram, kThree,
       [](K k) { return diverge_call(k, kCommit, 1); }, F::PendingCopy},
      {"three: copies into the slot that is read", kProgram, kThree,
       [](K k) { return change_argument(k, kCopy, 2, 0, iterations(1)); }, F::PendingCopy},
      {"three: copies into a slot that is on its way", kProgram, kThree,
       [](K k) { return change_argument(k, kCopy, 3, 0, iterations(-1)); }, F::PendingCopy},
      {"three: the next slot is read", kProgram, kThree,
       [](K k) { return shift_reads(k, "cache.a", kLoop, 1); }, F::PendingCopy},
      {"three: the last slot is read", kProgram, kThree,
       [](K k) { return shift_reads(k, "cache.b", kLoop, 2); }, F::PendingCopy},
      {"three: a copy one iteration late", kProgram, kThree,
       [](K k) {
         return change_argument(change_argument(k, kCopy, 2, 0, iterations(-1)), kCopy, 2, 1,
                                iterations(-1));
       },
       F::PendingCopy},
      {"three: the first tiles of a are not fetched", kProgram, kThree,
       [](K k) { return drop_call(k, kCopy, 0); }, F::Uninitialised},
      {"three: later tiles of b are not fetched", kProgram, kThree,
       [](K k) { return drop_call(k, kCopy, 3); }, F::Uninitialised},
      {"three: fetches beyond the end", kProgram, kThree,
       [](K k) { return drop_condition_on(k, kLoop); }, F::OutOfBounds},
      {"three: a slot too few", kProgram, kThree, [](K k) { return shrink(k, "cache.a", 32); },
       F::OutOfBounds},
      {"three: one copy by two threads", kProgram, kThree,
       [](K k) {
         return change_argument(k, kCopy, 2, 0, [](const Expr& e) {
           return ir::substitute(e, {{"output_thread_x", ir::var("output_thread_x") / Expr(2)}});
         });
       },
       F::PendingCopy},
      {"two: no wait", kProgram, kTwo, [](K k) { return drop_call(k, kWait, 0); }, F::PendingCopy},
      {"two: wait leaves one group", kProgram, kTwo,
       [](K k) { return change_argument(k, kWait, 0, 0, another(1)); }, F::PendingCopy},
      {"two: no barrier", kProgram, kTwo, [](K k) { return drop_barrier(k, 0); },
       F::MissingBarrier},
      {"two: copies into the slot that is read", kProgram, kTwo,
       [](K k) { return change_argument(k, kCopy, 2, 0, iterations(1)); }, F::PendingCopy},
      {"wide: copies one element too far", kPaddedRow, kWide,
       [](K k) { return change_argument(k, kCopy, 1, 0, elements(1)); }, F::Misaligned},
      {"wide: the padding is read", kPaddedRow, kWide,
       [](K k) {
         return change_argument(k, kCopy, 0, 3, [](const Expr&) { return ir::bool_imm(true); });
       },
       F::OutOfBounds},
      {"wide: copies of two elements for four", kPaddedRow, kWide,
       [](K k) { return change_argument(k, kCopy, 0, 2, [](const Expr&) { return Expr(2); }); },
       F::Uninitialised},
      {"staged: no barrier", kScaledRow, kStaged, [](K k) { return drop_barrier(k, 0); },
       F::MissingBarrier},
      {"staged: stored into the slot that is read", kScaledRow, kStaged,
       [](K k) { return shift_writes(k, "twice", "output_k_0", 1); }, F::MissingBarrier},
      {"staged: nothing is fetched into registers", kScaledRow, kStaged,
       [](K k) { return drop_first_store(k, "twice.ahead"); }, F::Uninitialised},
  };
  return all;
}

TEST(PipelineDefects, TheKernelsAreRightWithoutThem) {
  for (const Defect& defect : defects()) {
    const Kernel kernel = lowered(defect.program, defect.trace);
    for (const ir::Finding& finding : findings_of(kernel)) {
      ADD_FAILURE() << to_string(finding.kind) << ": " << finding.text << "\n"
                    << ir::to_string(kernel);
    }
  }
}

TEST(PipelineDefects, AreEachFoundAndNamed) {
  EXPECT_GE(defects().size(), 25u);
  for (const Defect& defect : defects()) {
    SCOPED_TRACE(defect.name);
    const Kernel kernel = lowered(defect.program, defect.trace);
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

TEST(PipelineDefects, AllBuffersCountAsSharedMemory) {
  ir::LaunchOptions options;
  options.limits.shared_bytes = 700;
  const auto findings = findings_of(lowered(kProgram, kThree), options);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "launch 0 needs 768 bytes of shared memory in a block, the device has 700");
}

}  // namespace
}  // namespace attune::test
