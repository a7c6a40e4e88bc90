// The steps that move stages: compute_at and root.
#include <gtest/gtest.h>

#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

TEST(ComputeAt, CoversWhatOneIterationNeeds) {
  EXPECT_EQ(loops_after("anchor", "split output j 4\ninline bias\ncompute_at anchor output j.0"),
            "i:1 j:4 k:7");
  EXPECT_EQ(loops_after("anchor", "inline bias\ncompute_at anchor output i"), "i:1 j:9 k:7");
  EXPECT_EQ(loops_after("anchor", "inline bias\nfuse output i j\ncompute_at anchor output i*j"),
            "i:1 j:1 k:7");
}

TEST(ComputeAt, FollowsChains) {
  const char* trace = "split output i 4\ncompute_at bias output i.1\ncompute_at anchor output i.0";
  EXPECT_EQ(loops_after("bias", trace), "i:1 j:9");
  EXPECT_EQ(loops_after("anchor", trace), "i:4 j:9 k:7");
  EXPECT_EQ(loops_after("anchor", "compute_at bias output i\ncompute_at anchor bias j"),
            "i:1 j:1 k:7");
}

TEST(ComputeAt, SaysWhatIsWrong) {
  EXPECT_EQ(loops_after("anchor", "compute_at anchor output i"),
            "line 1 of the trace: stage 'anchor' is read by 'bias', which does not run within loop "
            "'i' of 'output' / all consumers must lie inside of the loop");
  EXPECT_EQ(loops_after("anchor",
                        "split output i 4\ncompute_at bias output i.0\n"
                        "compute_at anchor output i.1"),
            "line 3 of the trace: stage 'anchor' is read by 'bias', which does not run within loop "
            "'i.1' of 'output' / all consumers must lie inside of the loop");
  EXPECT_EQ(loops_after("output", "compute_at output bias i"),
            "line 1 of the trace: stage 'output' is an output and is computed at root / move its "
            "producers instead");
  EXPECT_EQ(loops_after("bias", "compute_at bias anchor i"),
            "line 1 of the trace: stage 'anchor' does not read 'bias' / compute a stage at a loop "
            "of its consumer");
  EXPECT_EQ(loops_after("bias", "compute_at bias bias i"),
            "line 1 of the trace: stage 'bias' does not read 'bias' / compute a stage at a loop of "
            "its consumer");
  EXPECT_EQ(loops_after("bias", "compute_at bias output x"),
            "line 1 of the trace: stage 'output' has no loop 'x' / loops are i, j");
}

TEST(Root, TakesAStageOutAgain) {
  EXPECT_EQ(loops_after("bias", "compute_at bias output i\nroot bias"), "i:10 j:9");
}

// Steps after a compute_at may take away what it relied on; bounds inference then says so.
TEST(Placement, IsCheckedAgainAtTheEnd) {
  EXPECT_EQ(loops_after("bias", "compute_at bias output i\nsplit output i 4"),
            "stage 'bias' is computed at loop 'i' of 'output', which is gone / split and reorder "
            "the consumer first, then place its producers");
  EXPECT_EQ(
      loops_after("anchor", "compute_at bias output j\ncompute_at anchor output i\nroot bias"),
      "stage 'anchor' is computed at loop 'i' of 'output', but 'bias' reads it outside of "
      "that loop / place it at a loop around all its consumers, or at root");
  EXPECT_EQ(loops_after("anchor",
                        "compute_at bias output j\ncompute_at anchor output i\nreorder output j i"),
            "stage 'anchor' is computed at loop 'i' of 'output', but 'bias' reads it outside of "
            "that loop / place it at a loop around all its consumers, or at root");
  EXPECT_EQ(loops_after("bias", "compute_at bias output i\ncache_read bias output"),
            "stage 'bias' is computed at loop 'i' of 'output', but 'cache.bias' reads it outside "
            "of that loop / place it at a loop around all its consumers, or at root");
}

}  // namespace
}  // namespace attune::schedule
