// Whole lowering: nests, storage, what is prepared ahead, and what cannot be lowered.
#include "compiler/lower/lower.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/schedule/trace.h"

namespace attune::lower {
namespace {

constexpr const char* kDense = R"(program dense {
  input a: f32[5, 7]
  constant w: f32[7, 6]
  stage filter(k: 7, j: 6) = w[k, j] * 2.0f32
  stage anchor(i: 5, j: 6) = sum(k: 7) a[i, k] * filter[k, j]
  stage 'output'(i: 5, j: 6) = max(anchor[i, j], 0.0f32)
  output 'output'
}
)";

Result<Lowered> lower_text(std::string_view program, std::string_view trace,
                           const Options& options = {}) {
  ATTUNE_ASSIGN(const schedule::Trace steps, schedule::parse_trace(trace));
  ATTUNE_ASSIGN(const ir::Program parsed, ir::parse_program(program));
  ATTUNE_ASSIGN(const schedule::State state, schedule::replay(parsed, steps));
  return lower(state, options);
}

std::string main_of(std::string_view program, std::string_view trace) {
  const auto lowered = lower_text(program, trace);
  return lowered.ok() ? "\n" + ir::to_string(lowered->main.body) : lowered.error().message;
}

TEST(Lower, PreparesWhatDependsOnConstantsOnly) {
  const auto lowered = lower_text(kDense, "layout filter j k");
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  ASSERT_TRUE(lowered->prepare);
  EXPECT_EQ(ir::to_string(*lowered->prepare), R"(kernel dense_prepare(w: f32[42], filter: f32[42]) {
  for filter_k in 7 {
    for filter_j in 6 {
      filter[filter_j * 7 + filter_k] = w[filter_k * 6 + filter_j] * 2.0f32
    }
  }
}
)");
  EXPECT_EQ(lowered->prepare_inputs, std::vector<std::string>{"w"});
  EXPECT_EQ(lowered->main_inputs, std::vector<std::string>{"a"});
  ASSERT_EQ(lowered->prepared.size(), 1u);
  EXPECT_EQ(lowered->prepared[0]->name, "filter");
  ASSERT_EQ(lowered->main.params.size(), 3u);
  EXPECT_EQ(lowered->main.params[1]->name, "filter");
  EXPECT_EQ(lowered->main.params[2]->name, "output");
}

TEST(Lower, StartsReductionsBeforeTheirLoops) {
  EXPECT_EQ(main_of(kDense, "inline filter\nreorder anchor i k j\nroot anchor"),
            R"(
alloc anchor: f32[30] {
  for anchor_i in 5 {
    for anchor_j in 6 {
      anchor[anchor_i * 6 + anchor_j] = 0.0f32
    }
    for anchor_k in 7 {
      for anchor_j in 6 {
        anchor[anchor_i * 6 + anchor_j] = anchor[anchor_i * 6 + anchor_j] + )"
            R"(a[anchor_i * 7 + anchor_k] * (w[anchor_k * 6 + anchor_j] * 2.0f32)
      }
    }
  }
  for output_i in 5 {
    for output_j in 6 {
      'output'[output_i * 6 + output_j] = max(anchor[output_i * 6 + output_j], 0.0f32)
    }
  }
}
)");
}

TEST(Lower, StartsReductionsByASelectWhenAsked) {
  const std::string text =
      main_of(kDense, "inline filter\nannotate anchor * init select\ncompute_at anchor output i");
  EXPECT_NE(text.find("if (anchor_k == 0) {"), std::string::npos) << text;
  EXPECT_EQ(text.find("anchor[anchor_j] = 0.0f32"), std::string::npos) << text;
}

// A condition that memory decides is looked at only where the guard of a partial split holds.
TEST(Lower, ReadsConditionsWithinTheirGuards) {
  const std::string text = main_of(R"(program masked {
  input a: f32[9, 13]
  input mask: i32[13]
  stage 'output'(i: 9) = max(k: 13) select(mask[k] > 0i32, a[i, k], -inf:f32)
  output 'output'
})",
                                   "split output k 2 7\nrfactor output k.1\n"
                                   "cache_read rf.output output\nfuse cache.rf.output i k_1\n"
                                   "compute_at rf.output cache.rf.output i*k_1");
  const auto guard = text.find("part0 < 1) {");
  const auto condition = text.find("if (mask[");
  ASSERT_NE(guard, std::string::npos) << text;
  EXPECT_LT(guard, condition) << text;
}

TEST(Lower, KeepsSmallAttachedStagesOnTheStack) {
  EXPECT_EQ(main_of(R"(program p {
  input a: f32[6]
  stage first(x: 6) = a[x] + 1.0f32
  stage 'output'(x: 4) = first[x] * first[x + 2]
  output 'output'
})",
                    "compute_at first output x\nset_scope first stack"),
            R"(
for output_x in 4 {
  alloc first: f32[3] stack {
    for first_x in 3 {
      first[first_x] = a[first_x + output_x] + 1.0f32
    }
    'output'[output_x] = first[0] * first[2]
  }
}
)");
}

TEST(Lower, VectorisesAndUnrolls) {
  EXPECT_EQ(main_of(R"(program p {
  input a: f32[19]
  stage 'output'(x: 19) = a[x] + 1.0f32
  output 'output'
})",
                    "split output x 2 4\nunroll output x.1\nvectorize output x.2"),
            R"(
{
  for output_x_0 in 2 {
    'output'[ramp(output_x_0 * 8 + 0, 1, 4)] = a[ramp(output_x_0 * 8 + 0, 1, 4)] + )"
            R"(broadcast(1.0f32, 4)
    'output'[ramp(output_x_0 * 8 + 4, 1, 4)] = a[ramp(output_x_0 * 8 + 4, 1, 4)] + )"
            R"(broadcast(1.0f32, 4)
  }
  'output'[ramp(16, 1, 2)] = a[ramp(16, 1, 2)] + broadcast(1.0f32, 2)
  'output'[18] = a[18] + 1.0f32
}
)");
}

TEST(Lower, AllocatesTheHalfOfAPairThatIsNoOutput) {
  const std::string text = main_of(R"(program p {
  input a: f32[4, 3]
  stage best(i: 4) = argmax(k: 3) (a[i, k], k)
  output best.index
})",
                                   "");
  EXPECT_NE(text.find("alloc best: f32[4] {"), std::string::npos) << text;
}

TEST(Lower, RefusesPreparedStagesOutsideOfGlobalMemory) {
  const auto lowered = lower_text(kDense, "set_scope filter register");
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().message,
            "stage 'filter' is computed ahead of time and must be in global memory");
}

TEST(Lower, RefusesStorageThatNoMemoryHolds) {
  const auto lowered = lower_text(kDense, "layout anchor i/1000000 i%1000000 j/1000000 j%1000000");
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().message,
            "the storage of stage 'anchor' is larger than 1099511627776 bytes");
}

TEST(Lower, CallsTheObserverAfterEveryPassThatIsNotDisabled) {
  std::vector<std::string> seen;
  Options options;
  options.disabled = {"partition_loops"};
  options.observe = [&](std::string_view pass, const ir::Kernel&) { seen.emplace_back(pass); };
  ASSERT_TRUE(lower_text(kDense, "inline filter", options).ok());
  std::vector<std::string> expected{"nests"};
  for (const Pass& pass : vector_pipeline()) {
    if (pass.name != "partition_loops") expected.emplace_back(pass.name);
  }
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace attune::lower
