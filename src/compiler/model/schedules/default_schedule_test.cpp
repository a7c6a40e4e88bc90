#include <gtest/gtest.h>

#include "compiler/model/kernels.h"
#include "compiler/model/load/prepared_model.h"
#include "compiler/model/schedules/schedules.h"

namespace attune::model {
namespace {

graph::Task task_of(const std::string& spec, const std::string& target) {
  SourceOptions source;
  source.model.model = spec;
  source.model.target = target;
  source.schedule.use_default = true;
  auto prepared = prepare_model(load_model(source.model).value(), source);
  EXPECT_TRUE(prepared.ok());
  return prepared->tasks.distinct.front();
}

target::Target resolved(const std::string& text) {
  ModelOptions options;
  options.target = text;
  return resolve_target(options).value();
}

// One panel of columns, so that the usual schedule leaves the second thread without work.
TEST(DefaultSchedule, IsTheAnalyticModelsWhereThatPromisesMuch) {
  const std::string target = "cpu -mcpu=znver4 -threads=2";
  const graph::Task task = task_of("matmul:m=119,n=110,k=103", target);
  const Schedule usual = usual_schedule(task, resolved(target), {});
  const Schedule chosen = default_schedule(task, resolved(target), {});
  EXPECT_NE(schedule::hash(chosen.trace), schedule::hash(usual.trace));
  ASSERT_TRUE(chosen.otherwise);
  EXPECT_EQ(schedule::hash(chosen.otherwise->trace), schedule::hash(usual.trace));
  EXPECT_EQ(chosen.origin, Origin::Default);
}

TEST(DefaultSchedule, IsTheUsualOneElsewhere) {
  const std::string target = "cpu -mcpu=znver4 -threads=1";
  const graph::Task task = task_of("matmul:m=512,n=512,k=512", target);
  const Schedule chosen = default_schedule(task, resolved(target), {});
  EXPECT_EQ(schedule::hash(chosen.trace),
            schedule::hash(usual_schedule(task, resolved(target), {}).trace));
  EXPECT_FALSE(chosen.otherwise);
}

TEST(DefaultSchedule, ThatCannotBeBuiltGivesWayWithoutAWord) {
  const std::string target = "cpu -mcpu=x86-64 -threads=1";
  const graph::Task task = task_of("matmul:m=16,n=16,k=16", target);
  const Schedule usual = usual_schedule(task, resolved(target), {});
  Schedule promised = recorded_schedule(schedule::parse_trace("unroll output nothing\n").value());
  promised.origin = Origin::Default;
  promised.otherwise = std::make_shared<const Schedule>(usual);
  const auto lowered = lower_task(task, promised, resolved(target));
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  EXPECT_EQ(schedule::hash(lowered->schedule.trace), schedule::hash(usual.trace));
  EXPECT_TRUE(lowered->fallbacks.empty());
}

}  // namespace
}  // namespace attune::model
