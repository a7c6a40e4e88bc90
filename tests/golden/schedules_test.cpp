// What operators, their default schedules and the loops these become look like, for a target that
// is the same on every machine. `./test golden --update` writes tests/golden/schedules.
#include <gtest/gtest.h>

#include <string>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "tests/support/golden.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

// A CPU with 16 vector registers of 32 bytes, two threads.
target::Target fixed_target() {
  target::Target target;
  target.set("triple", "x86_64-pc-linux-gnu");
  target.set("mcpu", "haswell");
  target.threads = 2;
  target.vector_bytes = 32;
  target.vector_registers = 16;
  return target;
}

struct GoldenCase {
  const char* name;
  const char* spec;
};

class Schedules : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Schedules, LookAsTheyDid) {
  const target::Target target = fixed_target();
  const auto task = op_spec::parse_op_spec(GetParam().spec, target);
  ASSERT_TRUE(task.ok()) << task.error().message;
  const schedule::Trace trace = tunings::default_trace(task->program, target);
  const auto state = schedule::replay(task->program, trace);
  ASSERT_TRUE(state.ok()) << state.error().message;
  const auto lowered = lower::lower(*state);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const std::string folder = std::string("schedules/") + GetParam().name;
  EXPECT_TRUE(matches_golden(folder + "/te.txt", ir::to_string(task->program)));
  EXPECT_TRUE(matches_golden(folder + "/trace.txt", schedule::to_string(trace)));
  const std::string prepare = lowered->prepare ? ir::to_string(*lowered->prepare) : std::string();
  EXPECT_TRUE(matches_golden(folder + "/loops.txt", prepare + ir::to_string(lowered->main)));
}

INSTANTIATE_TEST_SUITE_P(All, Schedules,
                         ::testing::Values(GoldenCase{"matmul", "matmul:m=20,n=36,k=16"},
                                           GoldenCase{"conv2d",
                                                      "conv2d:h=6,w=6,ic=8,oc=8,kh=3,kw=3,pad=1"},
                                           GoldenCase{"depthwise", "depthwise:h=5,w=5,c=8,k=3"},
                                           GoldenCase{"softmax", "softmax:m=4,n=40"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace attune::test
