// The steps that change the loops of one stage: split, fuse, reorder, tile, parallel, vectorize,
// unroll, annotate.
#include <gtest/gtest.h>

#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

TEST(Split, MakesLoopsOfTheGivenExtents) {
  EXPECT_EQ(loops_after("output", ""), "i:10 j:9");
  EXPECT_EQ(loops_after("output", "split output i 5"), "i.0:2 i.1:5 j:9");
  EXPECT_EQ(loops_after("output", "split output i 4"), "i.0:3 i.1:4 j:9");
  EXPECT_EQ(loops_after("output", "split output j 2 4"), "i:10 j.0:2 j.1:2 j.2:4");
  EXPECT_EQ(loops_after("output", "split output i 4\nsplit output i.1 3"),
            "i.0:3 i.1.0:2 i.1.1:3 j:9");
  EXPECT_EQ(loops_after("anchor", "split anchor k 2"), "i:10 j:9 k.0:4 k.1:2");
}

TEST(Split, TakesNoMoreThanThereIs) {
  EXPECT_EQ(loops_after("output", "split output i 16"), "i.0:1 i.1:10 j:9");
  EXPECT_EQ(loops_after("output", "split output i 1"), "i.0:10 i.1:1 j:9");
}

TEST(Split, SaysWhatIsWrong) {
  EXPECT_EQ(loops_after("output", "split output i 0"),
            "line 1 of the trace: split factor for loop 'i' is 0, must be positive / choose a "
            "factor between 1 and the loop's extent");
  EXPECT_EQ(loops_after("output", "split output i -3"),
            "line 1 of the trace: split factor for loop 'i' is -3, must be positive / choose a "
            "factor between 1 and the loop's extent");
  EXPECT_EQ(loops_after("output", "split output i 4294967296"),
            "line 1 of the trace: split factors for loop 'i' multiply to more than 2147483648 / "
            "choose a factor between 1 and the loop's extent");
  EXPECT_EQ(loops_after("output", "split output i 65536 65536"),
            "line 1 of the trace: split factors for loop 'i' multiply to more than 2147483648 / "
            "choose a factor between 1 and the loop's extent");
  EXPECT_EQ(loops_after("output", "split output i"),
            "line 1 of the trace: split of loop 'i' has no factors / give the extents of the inner "
            "loops");
  EXPECT_EQ(loops_after("output", "split output x 4"),
            "line 1 of the trace: stage 'output' has no loop 'x' / loops are i, j");
  EXPECT_EQ(loops_after("output", "split nothing i 4"),
            "line 1 of the trace: there is no stage 'nothing' / stages are anchor, bias, output");
  EXPECT_EQ(loops_after("output", "unroll output i\nsplit output i 2"),
            "line 2 of the trace: loop 'i' of stage 'output' is annotated and cannot be split / "
            "split first, annotate then");
}

TEST(Fuse, JoinsAdjacentLoops) {
  EXPECT_EQ(loops_after("output", "fuse output i j"), "i*j:90");
  EXPECT_EQ(loops_after("output", "split output j 3\nfuse output i j.0"), "i*j.0:30 j.1:3");
  EXPECT_EQ(loops_after("output", "fuse output i j\nsplit output i*j 8"), "i*j.0:12 i*j.1:8");
}

TEST(Fuse, SaysWhatIsWrong) {
  EXPECT_EQ(loops_after("output", "fuse output i"),
            "line 1 of the trace: fuse in stage 'output' names 1 loops / name two adjacent loops "
            "or more");
  EXPECT_EQ(loops_after("output", "fuse output j i"),
            "line 1 of the trace: loops 'j' and 'i' of stage 'output' are not adjacent / reorder "
            "them first; loops are i, j");
  EXPECT_EQ(loops_after("anchor", "fuse anchor j k"),
            "line 1 of the trace: loop 'j' is a reduction and 'k' is not, or the reverse / fuse "
            "loops of one kind");
  EXPECT_EQ(loops_after("output", "parallel output i\nfuse output i j"),
            "line 2 of the trace: loop 'i' of stage 'output' is annotated and cannot be fused / "
            "fuse first, annotate then");
}

TEST(Fuse, BoundsTheIterations) {
  EXPECT_EQ(loops_after("output",
                        "split output i 16384 131072\nsplit output j 16384 131072\n"
                        "fuse output i.1 i.2 j.0 j.1 j.2"),
            "line 3 of the trace: the loops to fuse in stage 'output' have more than "
            "281474976710656 iterations / split by factors up to the loop's extent");
}

TEST(Reorder, PutsLoopsIntoTheirPlaces) {
  EXPECT_EQ(loops_after("anchor", "reorder anchor k i"), "k:7 j:9 i:10");
  EXPECT_EQ(loops_after("anchor", "reorder anchor k i j"), "k:7 i:10 j:9");
  EXPECT_EQ(loops_after("anchor", "reorder anchor i i"),
            "line 1 of the trace: reorder of stage 'anchor' names loop 'i' twice / name each loop "
            "once");
  EXPECT_EQ(loops_after("anchor", "reorder anchor i x"),
            "line 1 of the trace: stage 'anchor' has no loop 'x' / loops are i, j, k");
}

TEST(Tile, SplitsAndOrdersTwoLoops) {
  EXPECT_EQ(loops_after("output", "tile output i j 4 3"), "i.0:3 j.0:3 i.1:4 j.1:3");
  EXPECT_EQ(loops_after("output", "tile output i i 4 3"),
            "line 1 of the trace: stage 'output' has no loop 'i' / loops are i.0, i.1, j");
  EXPECT_EQ(loops_after("output", "tile output i j 4 0"),
            "line 1 of the trace: split factor for loop 'j' is 0, must be positive / choose a "
            "factor between 1 and the loop's extent");
}

TEST(LoopKinds, AreSetOnce) {
  EXPECT_EQ(loops_after("output", "parallel output i\nvectorize output j"),
            "i:10 parallel j:9 vectorized");
  EXPECT_EQ(loops_after("anchor", "unroll anchor k"), "i:10 j:9 k:7 unrolled");
  EXPECT_EQ(loops_after("anchor", "vectorize anchor k"), "i:10 j:9 k:7 vectorized");
  EXPECT_EQ(loops_after("output", "unroll output i\nunroll output i"), "i:10 unrolled j:9");
  EXPECT_EQ(loops_after("output", "unroll output i\nparallel output i"),
            "line 2 of the trace: loop 'i' of stage 'output' is annotated already / a loop has one "
            "kind");
  EXPECT_EQ(loops_after("anchor", "parallel anchor k"),
            "line 1 of the trace: cannot parallelise loop 'k' of stage 'anchor': it is a reduction "
            "/ rfactor it first, or choose a loop over an axis of the output");
  EXPECT_EQ(loops_after("best", "vectorize best k", R"(program p {
  input a: f32[4, 6]
  stage best(i: 4) = argmax(k: 6) (a[i, k], k)
  output best
})"),
            "line 1 of the trace: cannot vectorise loop 'k' of stage 'best': it is a reduction / "
            "rfactor it first, or choose a loop over an axis of the output");
}

TEST(Annotate, KeepsNotesOfLoopsAndStages) {
  const auto state =
      schedule_text(kProduct, "annotate anchor * init select\nannotate anchor k launder on");
  ASSERT_TRUE(state.ok()) << state.error().message;
  const StageState& anchor = *state->stages[0];
  ASSERT_TRUE(find_note(anchor.notes, "init"));
  EXPECT_EQ(*find_note(anchor.notes, "init"), "select");
  EXPECT_EQ(*find_note(anchor.iters[2].notes, "launder"), "on");
  EXPECT_EQ(find_note(anchor.iters[2].notes, "init"), nullptr);
  EXPECT_EQ(loops_after("anchor", "annotate anchor k color red"),
            "line 1 of the trace: unknown annotation 'color red' on stage 'anchor' / annotations "
            "are 'launder on', 'init select', 'prefetch next', 'claim stores', 'skip masked' and "
            "'bulk 1', 2 or 4");
  EXPECT_EQ(loops_after("anchor", "annotate anchor x launder on"),
            "line 1 of the trace: stage 'anchor' has no loop 'x' / loops are i, j, k");
}

TEST(State, CopiesShareWhatAStepDoesNotChange) {
  State first = initial_state(program_from(kProduct));
  State second = first;
  ASSERT_TRUE(perform(second, Split{"output", "i", {4}}).ok());
  EXPECT_EQ(first.stages[0], second.stages[0]);
  EXPECT_NE(first.stages[2], second.stages[2]);
  EXPECT_EQ(loops_of(first, "output"), "i:10 j:9");
}

}  // namespace
}  // namespace attune::schedule
