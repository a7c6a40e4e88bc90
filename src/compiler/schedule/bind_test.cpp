#include <gtest/gtest.h>

#include "compiler/schedule/bindings.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

std::string failure(std::string_view trace) {
  const auto state = schedule_text(kProduct, trace);
  if (!state.ok()) return error_of(state.error());
  const auto bounds = infer_bounds(*state, Mins::Compute);
  return bounds.ok() ? "done" : error_of(bounds.error());
}

TEST(Bind, MakesALoopAnAxis) {
  const std::string trace = "split output i 4\nbind output i.0 block.x\nbind output i.1 thread.x";
  EXPECT_EQ(loops_after("output", trace), "i.0:3 bound i.1:4 bound j:9");
  const auto state = schedule_text(kProduct, trace);
  EXPECT_EQ(state->stages[2]->iters[state->stages[2]->loops[1]].axis, "thread.x");
  EXPECT_TRUE(has_bound_loops(*state));
  EXPECT_FALSE(has_bound_loops(*schedule_text(kProduct, "split output i 4")));
}

TEST(Bind, PrintsAndParses) {
  const std::string text =
      "bind output i thread.y\nset_scope anchor shared\nstorage_align anchor 8 1\n";
  const auto trace = parse_trace(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(to_string(*trace), text);
}

TEST(Bind, RefusesWhatIsNoAxis) {
  EXPECT_EQ(failure("bind output i warp.x"),
            "line 1 of the trace: unknown axis 'warp.x' for loop 'i' of stage 'output' / axes are "
            "block.x, block.y, block.z, thread.x, thread.y, thread.z");
  EXPECT_EQ(failure("bind anchor k thread.x"),
            "line 1 of the trace: cannot bind loop 'k' of stage 'anchor' to thread.x: it is a "
            "reduction / rfactor it first, or choose a loop over an axis of the output");
  EXPECT_EQ(failure("vectorize output j\nbind output j thread.x"),
            "line 2 of the trace: loop 'j' of stage 'output' is annotated already / a loop has one "
            "kind");
  EXPECT_EQ(
      failure("bind output i thread.x\nbind output j thread.x"),
      "line 2 of the trace: loop 'i' of stage 'output' is bound to thread.x already / an axis "
      "has one loop of a stage; fuse the two, or choose another axis");
  EXPECT_EQ(failure("bind output j thread.x\nsplit output j 3"),
            "line 2 of the trace: loop 'j' of stage 'output' is annotated and cannot be split / "
            "split first, annotate then");
}

TEST(Bind, BlocksStandAroundAll) {
  EXPECT_EQ(failure("bind output j block.x"),
            "loop 'j' of stage 'output' is bound to block.x inside of other loops / reorder the "
            "loops of blocks to the front");
  EXPECT_EQ(
      failure("compute_at bias output i\nbind bias i block.x"),
      "loop 'i' of stage 'bias' is bound to block.x, but the stage is computed within "
      "'output' / bind blocks on stages at root, and threads on what is computed within them");
  EXPECT_EQ(failure("bind output i block.x\nbind output j block.y\ncompute_at bias output i"),
            "stage 'bias' is computed at loop 'i' of 'output', outside of loop 'j', which is bound "
            "to block.y / compute it inside of the blocks");
}

TEST(Bind, MemorySaysWhoComputes) {
  EXPECT_EQ(failure("set_scope bias shared"),
            "stage 'bias' is in shared memory, but not computed inside of a block / bind loops of "
            "the stage around it to blocks or threads");
  EXPECT_EQ(failure("compute_at bias output i\nset_scope bias shared"),
            "stage 'bias' is in shared memory, but not computed inside of a block / bind loops of "
            "the stage around it to blocks or threads");
  EXPECT_EQ(failure("bind output i block.x\ncompute_at bias output i\nbind bias j thread.x"),
            "stage 'bias' has bound loops, but its memory belongs to one thread / set its scope to "
            "shared");
  EXPECT_EQ(failure("bind output i block.x\ncompute_at bias output i\nset_scope bias global"),
            "stage 'bias' is computed within 'output' and cannot be in global memory / set its "
            "scope to shared, stack or register");
  EXPECT_EQ(
      failure("bind output i block.x\nset_scope bias register"),
      "stage 'bias' is computed by a launch of its own and must be in global memory / compute "
      "it at a loop of its consumer");
  EXPECT_EQ(failure("bind output i block.x\nparallel bias i"),
            "loop 'i' of stage 'bias' is parallel, while others are bound / bind it to blocks or "
            "threads");
  EXPECT_EQ(failure("bind output i block.x\ncompute_at bias output i\nset_scope bias shared\n"
                    "bind bias j thread.x"),
            "done");
}

// What is shared covers all threads of a block, what is a thread's own covers one.
TEST(Bind, SharedStagesCoverAllThreads) {
  const std::string tile =
      "split output i 4\nsplit output j 3\nreorder output i.0 j.0 i.1 j.1\n"
      "bind output i.0 block.y\nbind output j.0 block.x\nbind output i.1 thread.y\n"
      "bind output j.1 thread.x\ninline bias\ncompute_at anchor output j.1\n";
  EXPECT_EQ(loops_after("anchor", tile), "i:1 j:1 k:7");
  EXPECT_EQ(loops_after("anchor", tile + "set_scope anchor shared"), "i:4 j:3 k:7");
  const std::string fetch = tile +
                            "split anchor k 2\nreorder anchor k.0 i j k.1\n"
                            "cache_read a anchor\ncompute_at cache.a anchor k.0\n";
  EXPECT_EQ(loops_after("cache.a", fetch), "i0:1 i1:2");
  EXPECT_EQ(loops_after("cache.a", fetch + "set_scope cache.a shared"), "i0:4 i1:2");
}

// A fused loop over threads: its parts are seen through division and remainder.
TEST(Bind, SharedStagesCoverFusedThreads) {
  const std::string trace =
      "split output i 2\nreorder output i.0 i.1 j\nfuse output i.1 j\nbind output i.0 block.x\n"
      "bind output i.1*j thread.x\ninline bias\ncompute_at anchor output i.1*j\n"
      "set_scope anchor shared";
  EXPECT_EQ(loops_after("anchor", trace), "i:2 j:9 k:7");
}

TEST(StorageAlign, ChecksItsNumbers) {
  EXPECT_EQ(failure("storage_align anchor 32 1"), "done");
  EXPECT_EQ(failure("storage_align anchor 4 4"),
            "line 1 of the trace: rows of stage 'anchor' cannot have a length that is 4 modulo 4 / "
            "choose a factor between 1 and 1048576 and an offset below it");
  EXPECT_EQ(failure("storage_align output 4 1"),
            "line 1 of the trace: stage 'output' is an output; the length of its rows is fixed by "
            "the operator / use it on private stages");
}

}  // namespace
}  // namespace attune::schedule
