#include "compiler/schedule/trace.h"

#include <gtest/gtest.h>

#include "compiler/schedule/algorithm.h"
#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

// Every step once.
constexpr const char* kAllSteps = R"(algorithm winograd4
split anchor i 4 2
fuse output i j
reorder anchor k i.0 j
tile output i j 4 8
parallel output i.0
vectorize output j.1
unroll anchor k
compute_at anchor output i.0
inline bias
root anchor
cache_read b anchor
cache_write anchor
rfactor anchor k
set_scope anchor register
layout cache.b i1/8 i0 i1%8
pipeline cache.b 3
annotate anchor * init select
bind output i.0 block.x
storage_align anchor 32 1
storage_gap anchor 8
cache_value a anchor
pad anchor i 4
tensorize anchor i.1 mma_4x4x4_f32
)";

TEST(Trace, TextRoundTrips) {
  const auto trace = parse_trace(kAllSteps);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->size(), std::variant_size_v<Step>);
  EXPECT_EQ(to_string(*trace), kAllSteps);
}

TEST(Trace, IgnoresCommentsAndEmptyLines) {
  const auto trace = parse_trace("# a schedule\n\n  split output i 4  \r\n\tunroll output i.1");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(to_string(*trace), "split output i 4\nunroll output i.1\n");
}

std::string failure(std::string_view text) {
  const auto trace = parse_trace(text);
  return trace.ok() ? "parsed" : error_of(trace.error());
}

TEST(Trace, ParseErrorsNameTheLine) {
  const std::string hint = " / write one step per line, like 'split output ow 4'";
  EXPECT_EQ(failure("split a i 4\n\nsplot a i 4"),
            "line 3 of the trace: unknown step 'splot'" + hint);
  EXPECT_EQ(failure("split"),
            "line 1 of the trace: step 'split' does not parse: its stage is missing" + hint);
  EXPECT_EQ(
      failure("split a i 4 x"),
      "line 1 of the trace: step 'split' does not parse: its factors 'x' is not a number" + hint);
  EXPECT_EQ(failure("split a i 99999999999999999999"),
            "line 1 of the trace: step 'split' does not parse: its factors "
            "'99999999999999999999' is not a number" +
                hint);
  EXPECT_EQ(failure("unroll a i now"),
            "line 1 of the trace: step 'unroll' does not parse: 'now' is too much" + hint);
  EXPECT_EQ(failure("tile a x y 4"),
            "line 1 of the trace: step 'tile' does not parse: its y_factor is missing" + hint);
}

// The hashes of records that were written stay, whatever steps come.
TEST(Trace, HashIsStable) {
  Trace trace = parse_trace(R"(algorithm winograd4
split anchor i 4 2
fuse output i j
reorder anchor k i.0 j
tile output i j 4 8
parallel output i.0
vectorize output j.1
unroll anchor k
compute_at anchor output i.0
inline bias
root anchor
cache_read b anchor
cache_write anchor
rfactor anchor k
set_scope anchor register
layout cache.b i1/8 i0 i1%8
annotate anchor * init select
)")
                    .value();
  EXPECT_EQ(hash(trace), 8936955985500732527ull);
  const std::uint64_t before = hash(trace);
  std::get<Split>(trace[1]).factors[0] = 5;
  EXPECT_NE(hash(trace), before);
}

TEST(Trace, ReplayNamesTheFailingStep) {
  const Trace trace{Split{"output", "i", {4}}, Split{"output", "i", {4}}};
  const auto state = replay(program_from(kProduct), trace);
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.error().message, "line 2 of the trace: stage 'output' has no loop 'i'");
  EXPECT_EQ(state.error().hint, "loops are i.0, i.1, j");
}

TEST(Trace, AlgorithmComesFirst) {
  EXPECT_EQ(loops_after("output", "algorithm direct\nsplit output i 5"), "i.0:2 i.1:5 j:9");
  EXPECT_EQ(loops_after("output", "split output i 5\nalgorithm direct"),
            "line 2 of the trace: algorithm 'direct' after other steps / it is the first step of a "
            "trace");
}

TEST(Trace, IsMadeForTheAlgorithmItNames) {
  EXPECT_EQ(algorithm_of({}), "direct");
  EXPECT_EQ(algorithm_of({Split{"output", "i", {4}}}), "direct");
  EXPECT_EQ(algorithm_of({Algorithm{"winograd4"}, Split{"output", "i", {4}}}), "winograd4");
}

}  // namespace
}  // namespace attune::schedule
