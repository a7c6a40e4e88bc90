// Schedules that cannot be used give way to others, and the task says so.
#include "compiler/model/kernels.h"

#include <gtest/gtest.h>

#include <thread>

#include "compiler/graph/builder.h"
#include "compiler/model/compile_model_testing.h"
#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

class Kernels : public ::testing::Test {
 protected:
  void SetUp() override {
    graph::Builder builder("model", {});
    const graph::ValueId x = builder.input("x", {ir::kF32, {8, 32}});
    const graph::ValueId y = builder.input("y", {ir::kF32, {32, 48}});
    const auto product = builder.add("matmul", {x, y});
    ASSERT_TRUE(product.ok()) << product.error().message;
    CompileOptions options;
    target::Target asked;
    asked.threads = 1;
    target_ = *targets::resolve(asked);
    options.target = target_;
    graph_ = std::move(builder).finish({*product});
    tasks_ = *prepare_tasks(graph_, options);
    ASSERT_EQ(tasks_.distinct.size(), 1u);
  }
  const graph::Task& task() const { return tasks_.distinct[0]; }

  target::Target target_;
  graph::Graph graph_;
  ModelTasks tasks_;
};

TEST_F(Kernels, AScheduleThatWorksIsUsed) {
  const auto compiled =
      compile_task(task(), default_schedule(task(), target_, {}), target_, "kernel");
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_TRUE(compiled->fallbacks.empty());
  EXPECT_FALSE(compiled->schedule.trace.empty());
}

TEST_F(Kernels, ARecordThatDoesNotLowerGivesWayToTheDefault) {
  const Schedule recorded{
      "direct", *schedule::parse_trace("split output nowhere 4\n"), Origin::Record, {}};
  const auto compiled = compile_task(task(), recorded, target_, "kernel");
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  ASSERT_EQ(compiled->fallbacks.size(), 1u);
  const Fallback& fallback = compiled->fallbacks[0];
  EXPECT_EQ(fallback.key, task().key);
  EXPECT_EQ(fallback.task, task().name);
  EXPECT_EQ(fallback.wanted, "recorded");
  EXPECT_EQ(fallback.used, "default");
  EXPECT_EQ(fallback.reason, "replay: line 1 of the trace: stage 'output' has no loop 'nowhere'");
  EXPECT_EQ(schedule::to_string(compiled->schedule.trace),
            schedule::to_string(tunings::default_trace(task().op.program, target_)));
}

TEST_F(Kernels, AnAlgorithmThatTheTaskDoesNotHaveIsNamed) {
  const auto compiled = compile_task(
      task(), {"winograd9", {schedule::Algorithm{"winograd9"}}, Origin::Record}, target_, "kernel");
  ASSERT_TRUE(compiled.ok());
  ASSERT_EQ(compiled->fallbacks.size(), 1u);
  EXPECT_EQ(compiled->fallbacks[0].reason, "the task has no algorithm 'winograd9'");
}

TEST_F(Kernels, ARecordThatWasPassedOverIsNamed) {
  Schedule schedule = default_schedule(task(), target_, {});
  schedule.passed_over = "it is too old";
  const auto compiled = compile_task(task(), schedule, target_, "kernel");
  ASSERT_TRUE(compiled.ok());
  ASSERT_EQ(compiled->fallbacks.size(), 1u);
  EXPECT_EQ(describe(compiled->fallbacks[0]),
            "task " + task().key + " '" + task().name +
                "': its recorded schedule gave way to the default one: it is too old");
}

TEST_F(Kernels, TheModelListsAllOfThem) {
  CompileOptions options;
  options.target = target_;
  options.choose = [](const graph::Task&) {
    return Schedule{"direct", *schedule::parse_trace("split output nowhere 4\n"), Origin::Record};
  };
  const auto model = compile_model(graph_, options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  ASSERT_EQ(model->fallbacks.size(), 1u);
  EXPECT_EQ(summarize(model->fallbacks),
            "1 task does not use the schedule chosen for it; " + describe(model->fallbacks[0]));
  options.choose = {};
  EXPECT_TRUE(compile_model(graph_, options)->fallbacks.empty());
}

// Not as many as a target has, which may be one, or more than there are cores.
TEST(CompilingThreads, AreTheCoresThatTheThreadMayUse) {
  const std::vector<int> cores = runtime::allowed_cores();
  EXPECT_EQ(compiling_threads(), static_cast<int>(cores.size()));
  int pinned = 0;
  std::thread([&] {
    ASSERT_TRUE(runtime::pin_current_thread(cores.front()).ok());
    pinned = compiling_threads();
  }).join();
  EXPECT_EQ(pinned, 1);
}

TEST(Fallbacks, AreCountedByTask) {
  const Fallback one{"1", "a", "recorded", "plain", "x"}, two{"1", "a", "default", "plain", "y"},
      three{"2", "b", "recorded", "recorded", "z"};
  EXPECT_EQ(summarize({}), "");
  EXPECT_EQ(
      summarize({one, two, three}),
      "2 tasks do not use the schedule chosen for them; the first is task 1 'a': its recorded "
      "schedule gave way to the plain one: x");
  EXPECT_EQ(describe(three),
            "task 2 'b': its recorded schedule gave way to another recorded one: z");
}

}  // namespace
}  // namespace attune::model
