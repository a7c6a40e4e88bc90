#include "compiler/ir/interpret/launches.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

// Two blocks of four threads turn rows of four around, through shared memory.
constexpr const char* kReverse = R"(kernel reverse(A: f32[8], B: f32[8]) {
  bound for b in 2 on block.x {
    bound for t in 4 on thread.x {
      alloc S: f32[4] shared {
        S[t] = A[b * 4 + t]
        barrier shared
        B[b * 4 + t] = S[3 - t]
      }
    }
  }
}
)";

struct Ran {
  std::vector<Finding> findings;
  std::string first;  // "KIND: TEXT", or "" when nothing was found
  std::vector<double> output;
};

Ran run(std::string text, const LaunchOptions& options = {}) {
  const auto kernel = parse_kernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  std::vector<Array> arrays;
  for (const Buffer& param : kernel->params) {
    arrays.emplace_back(param->type, param->shape);
    for (std::int64_t i = 0; i < arrays.back().count(); ++i) arrays.back().set_real(i, double(i));
  }
  const int inputs = static_cast<int>(arrays.size()) - 1;
  auto findings = run_launches(*kernel, arrays, inputs, options);
  if (!findings.ok()) return {{}, "error: " + findings.error().message, {}};
  Ran ran{*findings, "", {}};
  if (!findings->empty()) {
    ran.first = std::string(to_string(findings->front().kind)) + ": " + findings->front().text;
  }
  for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
    ran.output.push_back(arrays.back().real(i));
  }
  return ran;
}

std::string with(std::string text, const std::string& old, const std::string& changed) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), changed);
}

TEST(Launches, RunBlocksAndThreads) {
  const Ran ran = run(kReverse);
  EXPECT_EQ(ran.first, "");
  EXPECT_EQ(ran.output, (std::vector<double>{3, 2, 1, 0, 7, 6, 5, 4}));
}

TEST(Launches, FindMissingBarriers) {
  EXPECT_EQ(run(with(kReverse, "barrier shared", "")).first,
            "missing barrier: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], which thread "
            "(3, 0, 0) wrote with no barrier between");
}

TEST(Launches, FindWritesAfterReads) {
  const std::string again =
      with(kReverse, "B[b * 4 + t] = S[3 - t]", "B[b * 4 + t] = S[3 - t] S[t] = 0.0f32");
  EXPECT_EQ(run(again).first,
            "missing barrier: thread (0, 0, 0) of block (0, 0, 0) writes 'S' at [0], which thread "
            "(3, 0, 0) read with no barrier between");
}

TEST(Launches, FindWriteRaces) {
  EXPECT_EQ(
      run(with(kReverse, "S[t] = A", "S[t / 2] = A")).first,
      "write race: thread (1, 0, 0) of block (0, 0, 0) writes 'S' at [0], to which thread (0, "
      "0, 0) wrote another value with no barrier between");
}

TEST(Launches, FindRacesBetweenBlocks) {
  EXPECT_EQ(run(with(kReverse, "B[b * 4 + t]", "B[t]")).first,
            "block race: thread (0, 0, 0) of block (1, 0, 0) writes 'B' at [0], which block (0, 0, "
            "0) wrote in the same launch");
}

TEST(Launches, FindDivergentBarriers) {
  EXPECT_EQ(run(with(kReverse, "barrier shared", "if (t < 3) { barrier shared }")).first,
            "divergent barrier: thread (3, 0, 0) of block (0, 0, 0) does not reach a barrier that "
            "thread (0, 0, 0) of block (0, 0, 0) waits at");
}

TEST(Launches, FindAccessesOutOfBounds) {
  EXPECT_EQ(
      run(with(kReverse, "S[3 - t]", "S[4 - t]")).first,
      "out of bounds: load of 'S' at [4], shape [4], is out of bounds, by thread (0, 0, 0) of "
      "block (0, 0, 0)");
}

TEST(Launches, FindMemoryOfOthers) {
  EXPECT_EQ(run(with(kReverse, "f32[4] shared", "f32[4] register")).first,
            "out of scope: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], which thread (3, "
            "0, 0) of block (0, 0, 0) wrote in memory of its own");
  const std::string moved = R"(kernel k(A: f32[2], B: f32[2]) {
  alloc S: f32[1] shared {
    bound for b in 2 on block.x { bound for t in 1 on thread.x { S[0] = A[b] B[b] = S[0] } }
  }
}
)";
  EXPECT_EQ(
      run(moved).first,
      "out of scope: thread (0, 0, 0) of block (1, 0, 0) accesses 'S' at [0], which is shared "
      "memory of block (0, 0, 0)");
}

TEST(Launches, FindReadsOfWhatNobodyWrote) {
  EXPECT_EQ(
      run(with(kReverse, "S[t] = A[b * 4 + t]", "if (t < 3) { S[t] = A[b * 4 + t] }")).first,
      "uninitialised: load of 'S' at [3], shape [4], reads an element that was never written, "
      "by thread (0, 0, 0) of block (0, 0, 0)");
}

TEST(Launches, KeepToTheLimits) {
  LaunchOptions options;
  options.limits.threads_per_block = 2;
  options.limits.shared_bytes = 8;
  const Ran ran = run(kReverse, options);
  ASSERT_EQ(ran.findings.size(), 2u);
  EXPECT_EQ(ran.findings[0].text, "launch 0 needs 4 threads in a block, the device has 2");
  EXPECT_EQ(ran.findings[1].text,
            "launch 0 needs 16 bytes of shared memory in a block, the device has 8");
}

// Launches run one after the other: the second may read what the first wrote.
TEST(Launches, FollowEachOther) {
  const std::string two = R"(kernel two(A: f32[4], B: f32[4]) {
  alloc T: f32[4] {
    bound for t in 4 on thread.x { T[t] = A[t] * 2.0f32 }
    bound for b in 4 on block.x { B[b] = T[3 - b] }
  }
}
)";
  const Ran ran = run(two);
  EXPECT_EQ(ran.first, "");
  EXPECT_EQ(ran.output, (std::vector<double>{6, 4, 2, 0}));
  const auto launches = launches_of(*parse_kernel(two));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].threads(), 4);
  EXPECT_EQ(launches[1].blocks(), 4);
}

TEST(Launches, RefuseBoundLoopsInTheMiddle) {
  EXPECT_EQ(run(R"(kernel k(A: f32[4], B: f32[4]) {
  bound for b in 1 on block.x { for i in 2 { bound for t in 2 on thread.x { B[t] = A[i] } } }
}
)")
                .first,
            "error: loop 't' is bound to thread.x, but stands inside of other statements of its "
            "launch");
}

TEST(Launches, WithoutMeetingsAreLoops) {
  const auto kernel = parse_kernel(R"(kernel double(A: f32[8], B: f32[8]) {
  bound for b in 2 on block.x {
    bound for t in 4 on thread.x {
      B[b * 4 + t] = A[b * 4 + t] + A[b * 4 + t]
    }
  }
}
)");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  Kernel plain = *kernel;
  plain.body = as_plain_loops(kernel->body);
  EXPECT_TRUE(has_bound_loops(kernel->body));
  EXPECT_FALSE(has_bound_loops(plain.body));
  EXPECT_EQ(as<For>(plain.body)->kind, LoopKind::Parallel);
  EXPECT_EQ(as<For>(as<For>(plain.body)->body)->kind, LoopKind::Serial);
  EXPECT_EQ(to_string(plain).find(" on "), std::string::npos) << to_string(plain);
}

}  // namespace
}  // namespace attune::ir
