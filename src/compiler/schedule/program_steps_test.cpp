// The steps that rewrite the program: inline, cache_read, cache_write, rfactor. The program they
// leave is verified and means what it meant before.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

std::vector<ir::Array> evaluate(const ir::Program& program) {
  Rng rng(7);
  std::vector<ir::Array> inputs;
  for (const ir::Input& input : program.inputs) {
    ir::Array array(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      array.set_real(i, static_cast<double>(rng.between(-8, 8)));
    }
    inputs.push_back(std::move(array));
  }
  return ir::interpret(program, inputs).value();
}

// The stages of the rewritten program, or the error.
std::string program_after(std::string_view trace, std::string_view text = kProduct) {
  const auto state = schedule_text(text, trace);
  if (!state.ok()) return error_of(state.error());
  const ir::Program program = program_of(*state);
  const Status verified = ir::verify(program);
  if (!verified.ok()) return verified.error().message;
  const auto expected = evaluate(program_from(text)), got = evaluate(program);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(expected[i].data, got[i].data);
  std::string stages;
  const std::string whole = ir::to_string(program);
  for (std::size_t at = whole.find("  stage"); at != std::string::npos;
       at = whole.find("  stage", at + 1)) {
    stages += whole.substr(at + 2, whole.find('\n', at) - at - 1);
  }
  return stages;
}

TEST(Inline, SubstitutesIntoConsumers) {
  EXPECT_EQ(program_after("inline bias"), R"(stage anchor(i: 10, j: 9) = sum(k: 7) a[i, k] * b[k, j]
stage 'output'(i: 10, j: 9) = max(anchor[i, j] + 1.0f32, 0.0f32)
)");
  EXPECT_EQ(program_after("inline anchor"),
            "line 1 of the trace: stage 'anchor' is a reduction and cannot be inlined / use "
            "compute_at");
  EXPECT_EQ(program_after("inline output"),
            "line 1 of the trace: stage 'output' is an output and cannot be inlined / inline its "
            "producers instead");
  EXPECT_EQ(program_after("compute_at anchor bias i\ninline bias"),
            "line 2 of the trace: stage 'anchor' is computed within 'bias' / inline before placing "
            "other stages in it");
}

TEST(CacheRead, CopiesAnInputOrAStage) {
  EXPECT_EQ(program_after("cache_read b anchor"), R"(stage cache.b(i0: 7, i1: 9) = b[i0, i1]
stage anchor(i: 10, j: 9) = sum(k: 7) a[i, k] * cache.b[k, j]
stage bias(i: 10, j: 9) = anchor[i, j] + 1.0f32
stage 'output'(i: 10, j: 9) = max(bias[i, j], 0.0f32)
)");
  EXPECT_EQ(program_after("inline bias\ncache_read anchor output"),
            R"(stage anchor(i: 10, j: 9) = sum(k: 7) a[i, k] * b[k, j]
stage cache.anchor(i: 10, j: 9) = anchor[i, j]
stage 'output'(i: 10, j: 9) = max(cache.anchor[i, j] + 1.0f32, 0.0f32)
)");
  EXPECT_EQ(program_after("cache_read c anchor"),
            "line 1 of the trace: there is no tensor 'c' / cache_read names an input or a stage");
  EXPECT_EQ(program_after("cache_read b output"),
            "line 1 of the trace: stage 'output' does not read 'b' / name a stage that reads the "
            "tensor");
  EXPECT_EQ(program_after("cache_read b anchor\ncache_read b anchor"),
            "line 2 of the trace: there is a stage 'cache.b' already / a tensor is cached once");
}

TEST(CacheWrite, MovesTheComputation) {
  EXPECT_EQ(program_after("cache_write anchor"),
            R"(stage cache.anchor(i: 10, j: 9) = sum(k: 7) a[i, k] * b[k, j]
stage anchor(i: 10, j: 9) = cache.anchor[i, j]
stage bias(i: 10, j: 9) = anchor[i, j] + 1.0f32
stage 'output'(i: 10, j: 9) = max(bias[i, j], 0.0f32)
)");
  const std::string changed =
      "line 2 of the trace: cache_write of stage 'anchor' after its loops were changed / "
      "cache_write comes before other steps on the stage, and not on pairs";
  EXPECT_EQ(program_after("split anchor i 4\ncache_write anchor"), changed);
  EXPECT_EQ(program_after("reorder anchor k j i\ncache_write anchor"), changed);
  EXPECT_EQ(program_after("unroll anchor k\ncache_write anchor"), changed);
  EXPECT_EQ(program_after("set_scope anchor stack\ncache_write anchor"), changed);
  EXPECT_EQ(program_after("compute_at anchor bias i\ncache_write anchor"), changed);
}

TEST(Rfactor, MakesPartialReductions) {
  EXPECT_EQ(program_after("split anchor k 2\nrfactor anchor k.1"),
            R"(stage rf.anchor(i: 10, j: 9, k_1: 2) = sum(k_0: 4) select(k_0 * 2 + k_1 < 7, )"
            R"(a[i, k_0 * 2 + k_1] * b[k_0 * 2 + k_1, j], 0.0f32)
stage anchor(i: 10, j: 9) = sum(k_1: 2) rf.anchor[i, j, k_1]
stage bias(i: 10, j: 9) = anchor[i, j] + 1.0f32
stage 'output'(i: 10, j: 9) = max(bias[i, j], 0.0f32)
)");
  EXPECT_EQ(program_after("rfactor anchor k"),
            R"(stage rf.anchor(i: 10, j: 9, k: 7) = a[i, k] * b[k, j]
stage anchor(i: 10, j: 9) = sum(k: 7) rf.anchor[i, j, k]
stage bias(i: 10, j: 9) = anchor[i, j] + 1.0f32
stage 'output'(i: 10, j: 9) = max(bias[i, j], 0.0f32)
)");
}

TEST(Rfactor, KeepsLoopsScopeAndLayoutOfTheStage) {
  const auto state = schedule_text(
      kProduct,
      "split anchor i 4\nset_scope anchor stack\nlayout anchor j i\nunroll anchor i.1\n"
      "rfactor anchor k");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(loops_of(*state, "anchor"), "i.0:3 i.1:4 unrolled j:9 k:7");
  EXPECT_EQ(loops_of(*state, "rf.anchor"), "i:10 j:9 k:7");
  const StageState& anchor = *state->stages[state->find("anchor")];
  EXPECT_EQ(anchor.scope, ir::Scope::Stack);
  EXPECT_EQ(anchor.layout.size(), 2u);
}

TEST(Rfactor, SaysWhatIsWrong) {
  EXPECT_EQ(program_after("rfactor anchor i"),
            "line 1 of the trace: loop 'i' of stage 'anchor' is not a reduction that can be "
            "factored / rfactor takes a reduction loop of a single-valued reduction");
  EXPECT_EQ(program_after("rfactor anchor k\nrfactor anchor k"),
            "line 2 of the trace: stage 'anchor' is factored already / rfactor a stage once");
  const std::string late =
      "line 2 of the trace: stage 'anchor' has fused axes or is not at root / rfactor before fuse "
      "and compute_at";
  EXPECT_EQ(program_after("fuse anchor i j\nrfactor anchor k"), late);
  EXPECT_EQ(program_after("compute_at anchor bias i\nrfactor anchor k"), late);
}

}  // namespace
}  // namespace attune::schedule
