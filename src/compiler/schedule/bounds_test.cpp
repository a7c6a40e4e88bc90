#include "compiler/schedule/bounds.h"

#include <gtest/gtest.h>

#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/print.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

// "[output_i_0 * 4 - 1 +6] [0 +9]": where each axis of the stage's region begins, and how long it
// is.
std::string region(std::string_view program, std::string_view trace, std::string_view stage) {
  const auto state = schedule_text(program, trace);
  if (!state.ok()) return error_of(state.error());
  const auto bounds = infer_bounds(*state, Mins::Compute);
  if (!bounds.ok()) return error_of(bounds.error());
  const int index = state->find(stage);
  std::string text;
  for (std::size_t i = 0; i < state->stages[index]->stage.axes.size(); ++i) {
    text += (text.empty() ? "[" : " [") + ir::to_string(ir::simplify((*bounds)[index].min[i])) +
            " +" + std::to_string((*bounds)[index].axes[i]) + "]";
  }
  return text;
}

constexpr const char* kStencil = R"(program stencil {
  input a: f32[40]
  stage first(x: 34) = a[x] + a[x + 6]
  stage second(x: 30) = first[x] + first[x + 2] + first[x + 4]
  stage 'output'(x: 10) = second[x * 2] * second[x * 2 + 3]
  output 'output'
}
)";

TEST(Bounds, OfStencils) {
  EXPECT_EQ(region(kStencil, "", "first"), "[0 +34]");
  EXPECT_EQ(region(kStencil, "compute_at second output x", "second"), "[output_x * 2 +4]");
  EXPECT_EQ(region(kStencil, "split output x 4\ncompute_at second output x.0", "second"),
            "[output_x_0 * 8 +10]");
  EXPECT_EQ(region(kStencil, "compute_at second output x\ncompute_at first output x", "first"),
            "[output_x * 2 +8]");
}

// A launch may have more threads than a loop of the reader has iterations: what they fetch together
// begins where no thread has a say, also where the loop has one iteration.
TEST(Bounds, OfSharedStagesBeginAlikeForAllThreads) {
  const std::string place =
      "compute_at bias output i.1\nset_scope bias shared\nbind bias j thread.x";
  EXPECT_EQ(region(kProduct, "split output i 10\nbind output i.0 thread.x\n" + place, "bias"),
            "[output_i_1 +1] [0 +9]");
  EXPECT_EQ(region(kProduct, "split output i 5\nbind output i.0 thread.x\n" + place, "bias"),
            "[output_i_1 +6] [0 +9]");
  EXPECT_EQ(region(kProduct, "split output i 5\nbind output i.0 block.x\n" + place, "bias"),
            "[output_i_0 * 5 + output_i_1 +1] [0 +9]");
}

// Both halves of the output read the same few elements of a tile.
TEST(Bounds, OfReadsFromSeveralPlaces) {
  const char* halves = R"(program halves {
  input a: f32[32]
  stage first(x: 32) = a[x] + a[x]
  stage 'output'(x: 64) = first[x % 32]
  output 'output'
}
)";
  EXPECT_EQ(region(halves,
                   "split output x 32\nsplit output x.1 8\nreorder output x.1.0 x.0 x.1.1\n"
                   "compute_at first output x.1.0",
                   "first"),
            "[output_x_1_0 * 8 +8]");
}

TEST(Bounds, OfChainsAttachedToAttachedStages) {
  const char* trace = "split output x 4\ncompute_at second output x.0\ncompute_at first second x";
  EXPECT_EQ(region(kStencil, trace, "first"), "[output_x_0 * 8 + second_x +5]");
}

// A stage computed inside of a partial split of an attached stage runs beyond what is needed; what
// it reads must reach as far.
TEST(Bounds, CoverPartialSplitsOfAttachedStages) {
  const char* trace =
      "split output x 4\ncompute_at second output x.0\nsplit second x 4\n"
      "cache_read first second\ncompute_at cache.first second x.0\ncompute_at first output x.0";
  EXPECT_EQ(region(kStencil, trace, "second"), "[output_x_0 * 8 +10]");
  EXPECT_EQ(region(kStencil, trace, "cache.first"), "[output_x_0 * 8 + second_x_0 * 4 +8]");
  EXPECT_EQ(region(kStencil, trace, "first"), "[output_x_0 * 8 +16]");
}

// The consumer's own loops may run beyond its end, and with them all that is placed in them.
TEST(Bounds, CoverPartialSplitsOfTheConsumer) {
  constexpr const char* kPooled = R"(program pooled {
  input a: f32[20]
  stage first(x: 20) = a[x] + 1.0f32
  stage second(x: 20) = first[x] * 2.0f32
  stage third(x: 2) = sum(k: 2) second[x * 3 + k]
  stage 'output'(y: 3, x: 2) = third[x]
  output 'output'
}
)";
  const char* trace =
      "split output x 2 4\ncompute_at third output x.2\ncompute_at second output x.2\n"
      "compute_at first output y";
  EXPECT_EQ(region(kPooled, trace, "third"), "[output_x_0 * 8 + output_x_1 * 4 + output_x_2 +1]");
  EXPECT_EQ(region(kPooled, trace, "second"),
            "[output_x_0 * 24 + output_x_1 * 12 + output_x_2 * 3 +2]");
  EXPECT_EQ(region(kPooled, trace, "first"), "[0 +20]");
}

// A part of a fused loop may wrap around: of what was fused, all is needed, from its beginning.
TEST(Bounds, CoverAllOfWhatWasFused) {
  const char* program = R"(program fused {
  input a: f32[9, 8]
  stage first(x: 9, y: 8) = a[x, y]
  stage second(x: 8, y: 8) = first[x, y] + first[x + 1, y]
  stage 'output'(x: 4, y: 8) = second[x * 2, y] + second[x * 2 + 1, y]
  output 'output'
}
)";
  const char* trace =
      "compute_at second output x\nfuse second x y\nsplit second x*y 4\n"
      "compute_at first second x*y.0";
  EXPECT_EQ(region(program, trace, "first"), "[output_x * 2 +3] [0 +8]");
}

// Where a region begins and how long it is follow from one rule: a fused loop whose split does not
// move stands still for both.
TEST(Bounds, FollowFusedLoopsThatStandStill) {
  constexpr const char* kTransposed = R"(program transposed {
  input a: f32[4, 11, 15]
  stage first(k: 4, j: 11, i: 15) = a[k, j, i]
  stage 'output'(i: 15, j: 11, k: 4) = first[k, j, i]
  output 'output'
}
)";
  const char* trace =
      "tile output k j 4 16\nfuse output j.0 k.1\nsplit output j.0*k.1 1\n"
      "compute_at first output k.0\nfuse output j.0*k.1.1 j.1\ntile output i j.0*k.1.0 5 1";
  EXPECT_EQ(loops_after("output", trace, kTransposed),
            "i.0:3 j.0*k.1.0.0:4 k.0:1 i.1:5 j.0*k.1.0.1:1 j.0*k.1.1*j.1:11");
  EXPECT_EQ(region(kTransposed, trace, "first"),
            "[output_k_0 * 4 + output_j_0_k_1_0_0 % 4 +1] [0 +11] [output_i_0 * 5 +5]");
}

// A fused loop that is split runs beyond its end, and with it the outermost of what was fused.
TEST(Bounds, CoverFusedLoopsBeyondTheirEnd) {
  constexpr const char* kRows = R"(program rows {
  input a: f32[40, 5]
  stage first(x: 40, y: 5) = a[x, y]
  stage second(x: 10, y: 5) = first[x, y] + first[x + 30, y]
  stage 'output'(x: 2, y: 5) = second[x, y]
  output 'output'
}
)";
  const char* trace =
      "fuse output x y\nsplit output x*y 4\ncompute_at second output x*y.1\n"
      "compute_at first output x*y.0";
  EXPECT_EQ(
      region(kRows, trace, "second"),
      "[(output_x_y_0 * 4 + output_x_y_1) / 5 +1] [(output_x_y_0 * 4 + output_x_y_1) % 5 +1]");
  EXPECT_EQ(region(kRows, trace, "first"), "[0 +33] [0 +5]");
}

// A stage within a stage within the host moves with both.
TEST(Bounds, FollowAllLoopsAroundAStage) {
  constexpr const char* kChain = R"(program chain {
  input a: f32[23]
  stage first(x: 21) = a[x] + a[x + 2]
  stage second(x: 19) = first[x] + first[x + 2]
  stage third(x: 17) = second[x] * second[x + 1]
  stage 'output'(x: 8) = third[x * 2] + third[x * 2 + 2]
  output 'output'
}
)";
  const char* trace =
      "split output x 4\ncompute_at third output x.1\ncompute_at second third x\n"
      "compute_at first output x.0";
  EXPECT_EQ(region(kChain, trace, "third"), "[output_x_0 * 8 + output_x_1 * 2 +3]");
  EXPECT_EQ(region(kChain, trace, "second"), "[output_x_0 * 8 + output_x_1 * 2 + third_x +2]");
  EXPECT_EQ(region(kChain, trace, "first"), "[output_x_0 * 8 +12]");
}

TEST(Bounds, FallBackToTheWholeAxis) {
  constexpr const char* kOdd = R"(program odd {
  input a: f32[12, 5]
  stage first(x: 12, y: 5) = a[x, y] + 1.0f32
  stage 'output'(x: 6, y: 5) = first[x / 2, y] + first[x, 4 - y] + first[x + 3, y]
  output 'output'
}
)";
  EXPECT_EQ(region(kOdd, "compute_at first output y", "first"), "[0 +12] [0 +5]");
  constexpr const char* kReversed = R"(program reversed {
  input a: f32[12, 5]
  stage first(x: 12, y: 5) = a[x, y] + 1.0f32
  stage 'output'(x: 6, y: 5) = first[11 - x, 4 - y] + first[9 - x, 4 - y]
  output 'output'
}
)";
  EXPECT_EQ(region(kReversed, "compute_at first output y", "first"),
            "[9 - output_x +3] [4 - output_y +1]");
  EXPECT_EQ(region(kReversed, "compute_at first output x", "first"), "[9 - output_x +3] [0 +5]");
}

TEST(Bounds, UniteSeveralReaders) {
  constexpr const char* kReaders = R"(program readers {
  input a: f32[16]
  stage first(x: 16) = a[x] + 1.0f32
  stage left(x: 8) = first[x] * 2.0f32
  stage right(x: 8) = first[x + 3] * 2.0f32
  stage 'output'(x: 8) = left[x] + right[x] + first[x + 1]
  output 'output'
}
)";
  const char* trace =
      "compute_at right output x\ncompute_at left output x\ncompute_at first output x";
  EXPECT_EQ(region(kReaders, trace, "first"), "[output_x +4]");
}

TEST(Bounds, NamesVariablesByStageAndLoop) {
  const auto state = schedule_text(kProduct, "split anchor i 4");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(loop_variable(*state->stages[0], state->stages[0]->loops[1]), "anchor_i_1");
}

}  // namespace
}  // namespace attune::schedule
