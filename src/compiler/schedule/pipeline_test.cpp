#include <gtest/gtest.h>

#include "compiler/schedule/pipelines.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

const std::string kTile = R"(bind output i block.x
bind output j thread.x
inline bias
compute_at anchor output j
cache_read a anchor
compute_at cache.a anchor k
)";

std::string failure(const std::string& more) {
  const auto state = schedule_text(kProduct, kTile + more);
  if (!state.ok()) return error_of(state.error());
  const auto bounds = infer_bounds(*state, Mins::Compute);
  return bounds.ok() ? "done" : error_of(bounds.error());
}

TEST(Pipeline, GivesAStageBuffers) {
  const std::string steps = kTile + "set_scope cache.a shared\npipeline cache.a 3";
  const auto state = schedule_text(kProduct, steps);
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_TRUE(infer_bounds(*state, Mins::Compute).ok());
  const int stage = state->find("cache.a");
  EXPECT_EQ(state->stages[stage]->buffers, 3);
  const StageState& host = *state->stages[state->find("anchor")];
  EXPECT_EQ(*find_note(with_pipelines(*state, host, host.loops[2]), kPipelineNote), "3 cache.a");
  EXPECT_EQ(find_note(with_pipelines(*state, host, host.loops[1]), kPipelineNote), nullptr);
}

TEST(Pipeline, SaysWhatIsWrong) {
  EXPECT_EQ(failure("pipeline cache.a 1"),
            "line 7 of the trace: stage 'cache.a' cannot be pipelined with 1 buffers / choose a "
            "number between 2 and 8");
  EXPECT_EQ(failure("pipeline anchor 2"),
            "line 7 of the trace: stage 'anchor' is a reduction and cannot be fetched ahead / "
            "pipeline a copy that cache_read made");
  EXPECT_EQ(failure("pipeline output 2"),
            "line 7 of the trace: stage 'output' is an output; its memory is fixed by the operator "
            "/ use it on private stages");
  EXPECT_EQ(failure("pipeline cache.a 2"),
            "stage 'cache.a' is pipelined, but not in the shared memory of a block / set its scope "
            "to shared, and compute it at a serial loop of its consumer");
  const std::string shared = "set_scope cache.a shared\npipeline cache.a 2\n";
  EXPECT_EQ(failure(shared), "done");
  EXPECT_EQ(failure(shared + "unroll anchor k"), "done");
  EXPECT_EQ(failure(shared + "compute_at cache.a output j"),
            "stage 'cache.a' is pipelined at loop 'j' of 'output', whose iterations have no order "
            "/ compute it at a serial loop");
}

TEST(Pipeline, SaysWhatStandsInTheWay) {
  const std::string shared = "set_scope cache.a shared\npipeline cache.a 2\n";
  EXPECT_EQ(failure(shared + "cache_read b anchor\ncompute_at cache.b anchor k\n"
                             "set_scope cache.b shared\npipeline cache.b 3"),
            "stages 'cache.a' and 'cache.b' are pipelined at loop 'k' of 'anchor' with 2 and 3 "
            "buffers / choose one number for both");
  EXPECT_EQ(failure(shared + "cache_read a cache.a\n"),
            "line 9 of the trace: there is a stage 'cache.a' already / a tensor is cached once");
  EXPECT_EQ(failure("set_scope cache.a shared\ncache_read cache.a anchor\n"
                    "compute_at cache.cache.a anchor k\nset_scope cache.cache.a shared\n"
                    "pipeline cache.cache.a 2"),
            "stage 'cache.cache.a' is pipelined, but reads 'cache.a', which is computed in the "
            "same launch / pipeline copies of global memory");
  EXPECT_EQ(failure("set_scope cache.a shared\ncache_read cache.a anchor\n"
                    "compute_at cache.cache.a anchor k\nset_scope cache.cache.a shared\n"
                    "compute_at cache.a cache.cache.a i0\nset_scope cache.a stack\n"
                    "pipeline cache.cache.a 2"),
            "stage 'cache.cache.a' is pipelined, but reads 'cache.a', which is computed in the "
            "same launch / pipeline copies of global memory");
}

}  // namespace
}  // namespace attune::schedule
