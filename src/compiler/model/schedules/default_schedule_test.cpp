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

// Two panels of columns, four vectors and three.
TEST(DefaultSchedule, IsTheAnalyticModels) {
  const std::string target = "cpu -mcpu=znver4 -threads=2";
  const graph::Task task = task_of("matmul:m=119,n=110,k=103", target);
  const Schedule usual = usual_schedule(task, resolved(target), {});
  const Schedule chosen = default_schedule(task, resolved(target), {});
  EXPECT_NE(schedule::hash(chosen.trace), schedule::hash(usual.trace));
  ASSERT_TRUE(chosen.otherwise);
  EXPECT_EQ(schedule::hash(chosen.otherwise->trace), schedule::hash(usual.trace));
  EXPECT_EQ(chosen.origin, Origin::Default);
}

TEST(DefaultSchedule, HasAnotherAlgorithmWhereThatPromisesMuch) {
  for (const std::string target :
       {"cpu -mcpu=znver4 -threads=1", "cpu -mcpu=sapphirerapids -threads=2"}) {
    SCOPED_TRACE(target);
    const auto algorithm = [&](const std::string& spec, const Algorithms& allowed) {
      return default_schedule(task_of(spec, target), resolved(target), allowed).algorithm;
    };
    const std::string large = "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1";
    EXPECT_TRUE(algorithm(large, {}).starts_with("winograd")) << algorithm(large, {});
    EXPECT_EQ(algorithm(large, {"direct"}), "direct");
    EXPECT_EQ(algorithm(large, {"winograd2"}), "winograd2");
    EXPECT_EQ(algorithm("conv2d:h=4,w=4,ic=16,oc=16,kh=3,kw=3,pad=1", {}), "direct");
    EXPECT_EQ(algorithm("dense:m=64,n=64,k=512", {}), "direct");
  }
}

// What its sums cost depends on the last cache, which is the machine's own where it is of that
// kind.
TEST(DefaultSchedule, MultipliesLargeMatricesWithFewerProducts) {
  const std::string target = "cpu -mcpu=znver4 -threads=1";
  const graph::Task task = task_of("dense:m=512,n=512,k=512", target);
  EXPECT_EQ(default_schedule(task, resolved(target), {}).algorithm, "strassen");
}

TEST(DefaultSchedule, SharesWhatThereIsMuchOf) {
  const std::string target = "cpu -mcpu=znver4 -threads=4";
  const auto loops = [&](const std::string& spec) {
    return schedule::to_string(default_schedule(task_of(spec, target), resolved(target), {}).trace);
  };
  const std::string rows = loops("dense:m=1024,n=40,k=64");
  EXPECT_NE(rows.find("parallel output i.0"), std::string::npos) << rows;
  const std::string columns = loops("dense:m=2,n=4096,k=64");
  EXPECT_NE(columns.find("parallel output j.0"), std::string::npos) << columns;
}

// Few rows and columns and a long reduction: there is nothing else to share.
TEST(DefaultSchedule, SharesTheReductionAmongManyThreads) {
  const std::string target = "cpu -mcpu=znver4 -threads=16";
  const graph::Task task = task_of("dense:m=4,n=32,k=4000", target);
  const Schedule chosen = default_schedule(task, resolved(target), {});
  EXPECT_NE(schedule::to_string(chosen.trace).find("parallel rf.anchor"), std::string::npos)
      << schedule::to_string(chosen.trace);
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
