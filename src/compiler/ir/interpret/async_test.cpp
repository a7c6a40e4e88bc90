// Asynchronous copies: what they mean, and what is found when somebody looks too early.
#include <gtest/gtest.h>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/parse.h"

namespace attune::ir {
namespace {

// Four threads copy rows of four ahead of the turn in which they are read, in two buffers.
constexpr const char* kRows = R"(kernel rows(A: f32[16], B: f32[16]) {
  bound for t in 4 on thread.x {
    alloc S: f32[8] shared {
      eval @async_copy<i32>(S[t], A[t], 1, true)
      eval @async_commit<i32>()
      for i in 4 {
        eval @async_wait<i32>(0)
        barrier shared
        if (i < 3) {
          eval @async_copy<i32>(S[(i + 1) % 2 * 4 + t], A[i * 4 + t + 4], 1, t != 1)
        }
        eval @async_commit<i32>()
        B[i * 4 + t] = S[i % 2 * 4 + (3 - t)]
      }
    }
  }
}
)";

struct Ran {
  std::string first;  // "KIND: TEXT", or "" when nothing was found
  std::vector<double> output;
};

Ran run(const std::string& text) {
  const auto kernel = parse_kernel(text);
  if (!kernel.ok()) return {"error: " + kernel.error().message, {}};
  std::vector<Array> arrays;
  for (const Buffer& param : kernel->params) {
    arrays.emplace_back(param->type, param->shape);
    for (std::int64_t i = 0; i < arrays.back().count(); ++i) arrays.back().set_real(i, double(i));
  }
  const auto findings = run_launches(*kernel, arrays, 1);
  if (!findings.ok()) return {"error: " + findings.error().message, {}};
  Ran ran;
  if (!findings->empty()) {
    ran.first = std::string(to_string(findings->front().kind)) + ": " + findings->front().text;
  }
  for (std::int64_t i = 0; i < arrays[1].count(); ++i) ran.output.push_back(arrays[1].real(i));
  return ran;
}

std::string with(std::string text, const std::string& old, const std::string& changed) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), changed);
}

TEST(AsyncCopies, ArriveWhenTheyAreWaitedFor) {
  const Ran ran = run(kRows);
  EXPECT_EQ(ran.first, "");
  EXPECT_EQ(ran.output, (std::vector<double>{3, 2, 1, 0, 7, 6, 0, 4, 11, 10, 0, 8, 15, 14, 0, 12}));
}

TEST(AsyncCopies, AreReadTooEarly) {
  EXPECT_EQ(run(with(kRows, "eval @async_wait<i32>(0)", "")).first,
            "pending copy: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], to which thread "
            "(3, 0, 0) copies without having waited");
  EXPECT_EQ(run(with(kRows, "async_wait<i32>(0)", "async_wait<i32>(1)")).first,
            "pending copy: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], to which thread "
            "(3, 0, 0) copies without having waited");
  EXPECT_EQ(run(with(kRows, "eval @async_commit<i32>()", "")).first,
            "pending copy: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], to which thread "
            "(3, 0, 0) copies without having waited");
}

TEST(AsyncCopies, AreSeenByOthersBehindABarrier) {
  EXPECT_EQ(run(with(kRows, "barrier shared", "")).first,
            "missing barrier: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], which thread "
            "(3, 0, 0) wrote with no barrier between");
  EXPECT_EQ(run(with(with(kRows, "barrier shared", ""), "eval @async_wait<i32>(0)",
                     "barrier shared eval @async_wait<i32>(0)"))
                .first,
            "missing barrier: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], which thread "
            "(3, 0, 0) wrote with no barrier between");
}

TEST(AsyncCopies, OverwriteWhatIsStillRead) {
  EXPECT_EQ(run(with(kRows, "(i + 1) % 2", "i % 2")).first,
            "pending copy: thread (0, 0, 0) of block (0, 0, 0) reads 'S' at [3], to which thread "
            "(3, 0, 0) copies without having waited");
  const std::string late = with(
      with(kRows, "eval @async_copy<i32>(S[(i + 1) % 2 * 4 + t], A[i * 4 + t + 4], 1, t != 1)", ""),
      "B[i * 4 + t] = S[i % 2 * 4 + (3 - t)]",
      "B[i * 4 + t] = S[i % 2 * 4 + (3 - t)] if (i < 3) { eval @async_copy<i32>(S[i % 2 * 4 + t], "
      "A[i * 4 + t + 4], 1, true) }");
  EXPECT_EQ(run(late).first,
            "missing barrier: thread (0, 0, 0) of block (0, 0, 0) writes 'S' at [0], which thread "
            "(3, 0, 0) read with no barrier between");
}

TEST(AsyncCopies, AreNotLeftBehind) {
  EXPECT_EQ(run(with(kRows, "if (i < 3)", "if (i < 4 && i != 3 || t == 2 && i == 3)")).first,
            "out of bounds: load of 'A' at [18], shape [16], is out of bounds, by thread (2, 0, 0) "
            "of block (0, 0, 0)");
  EXPECT_EQ(run(with(kRows, "A[i * 4 + t + 4], 1, t != 1", "A[t], 1, i < 3")).first, "");
  EXPECT_EQ(run(with(with(kRows, "if (i < 3)", "if (i < 4)"), "A[i * 4 + t + 4]", "A[t]")).first,
            "unwaited copy: thread (0, 0, 0) of block (0, 0, 0) ends while it copies to 'S' at "
            "[0]");
}

TEST(AsyncCopies, AreAligned) {
  constexpr const char* kWide = R"(kernel wide(A: f32[16], B: f32[2]) {
  bound for t in 2 on thread.x {
    alloc S: f32[12] shared {
      eval @async_copy<i32>(S[t * 6], A[t * 4], 4, true)
      eval @async_commit<i32>()
      eval @async_wait<i32>(0)
      B[t] = S[t * 6]
    }
  }
}
)";
  EXPECT_EQ(run(kWide).first,
            "misaligned: asynchronous store of 4 elements of 'S' at [6], shape [12], is not "
            "aligned, by thread (1, 0, 0) of block (0, 0, 0)");
  EXPECT_EQ(run(with(with(kWide, "S[t * 6], A", "S[t * 8], A"), "= S[t * 6]", "= S[t * 8]")).first,
            "");
  EXPECT_EQ(run(with(kWide, "4, true", "3, true")).first,
            "error: 'async_copy' copies 12 bytes at once, must be 4, 8 or 16");
  EXPECT_EQ(run(with(kWide, "A[t * 4], 4", "S[t * 4], 4")).first,
            "error: 'async_copy' does not copy from global to shared memory");
}

}  // namespace
}  // namespace attune::ir
