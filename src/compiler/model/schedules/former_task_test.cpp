#include "compiler/model/schedules/former_task.h"

#include <gtest/gtest.h>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ops/forms/softmax.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

TEST(FormerTask, TracesOfRowsStillReplay) {
  const target::Target target;
  const ir::Program former = ops::build_softmax({.m = 16, .n = 100}).value();
  const op_spec::OpTask now = op_spec::parse_op_spec("softmax:m=16,n=100", target).value();
  const auto found = former_task(former, now.key);
  ASSERT_TRUE(found);
  EXPECT_NE(found->key, now.key);
  const schedule::Trace usual = tunings::default_trace(former, target);
  ASSERT_FALSE(usual.empty());
  const auto renamed = renamed_loops(schedule::to_string(usual), former, now.program);
  ASSERT_TRUE(renamed.ok()) << renamed.error().message;
  EXPECT_TRUE(schedule::replay(now.program, *renamed).ok()) << schedule::to_string(*renamed);
  EXPECT_EQ(schedule::to_string(*renamed),
            schedule::to_string(tunings::default_trace(now.program, target)));
}

TEST(FormerTask, MostTasksAreWhatTheyWere) {
  const op_spec::OpTask now = op_spec::parse_op_spec("dense:m=8,n=16,k=4", {}).value();
  EXPECT_FALSE(former_task(now.program, now.key));
}

}  // namespace
}  // namespace attune::model
