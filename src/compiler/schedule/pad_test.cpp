#include <gtest/gtest.h>

#include "compiler/ir/text/print.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

const char* const kWeights = R"(program product {
  input a: f32[5, 7]
  constant w: f32[7, 3]
  stage b(k: 7, j: 3) = w[k, j]
  stage anchor(i: 5, j: 3) = sum(k: 7) a[i, k] * b[k, j]
  stage 'output'(i: 5, j: 3) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";

Result<State> padded(const std::string& trace) {
  const auto program = ir::parse_program(kWeights);
  EXPECT_TRUE(program.ok()) << program.error().message;
  return replay(*program, parse_trace(trace).value());
}

std::string refusal(const std::string& trace) {
  const auto state = padded(trace);
  const std::string& message = state.ok() ? "none" : state.error().message;
  return message.substr(message.find(": ") + 2);
}

TEST(Pad, ReadsZerosBeyondTheEnd) {
  const auto state = padded("cache_read a anchor\npad anchor i 4\npad anchor k 4\npad anchor j 2");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(ir::to_string(program_of(*state)), R"(program product {
  input a: f32[5, 7]
  constant w: f32[7, 3]
  stage b(k: 8, j: 4) = select(j < 3, select(k < 7, w[k, j], 0.0f32), 0.0f32)
  stage cache.a(i0: 8, i1: 8) = select(i1 < 7, select(i0 < 5, a[i0, i1], 0.0f32), 0.0f32)
  stage anchor(i: 8, j: 4) = sum(k: 8) cache.a[i, k] * b[k, j]
  stage 'output'(i: 5, j: 3) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)");
}

TEST(Pad, LeavesWholeTilesAsTheyAre) {
  const auto state = padded("pad anchor k 7");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(ir::to_string(program_of(*state)), ir::to_string(ir::parse_program(kWeights).value()));
}

TEST(Pad, SaysWhatCannotBe) {
  EXPECT_EQ(refusal("pad anchor i 4"), "stage 'anchor' cannot be padded: 'a' is an input");
  EXPECT_EQ(refusal("pad anchor p 4"), "stage 'anchor' has no axis 'p'");
  EXPECT_EQ(refusal("pad anchor i 0"),
            "axis 'i' of stage 'anchor' cannot be padded to a multiple of 0");
  EXPECT_EQ(refusal("split anchor i 2\npad anchor i 4"),
            "stage 'anchor' has other steps already, or is no sum of products");
  EXPECT_EQ(refusal("split b k 2\npad anchor j 4"),
            "stage 'anchor' cannot be padded: 'b' has other readers or steps");
}

}  // namespace
}  // namespace attune::schedule
