#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/model/kernels.h"
#include "compiler/model/load/prepared_model.h"
#include "compiler/model/schedules/schedules.h"

namespace attune::model {
namespace {

graph::Task task_of(const std::string& spec, const std::string& target) {
  const ModelOptions options{.model = spec, .target = target};
  LoadedModel model = load_model(options).value();
  const CompileOptions compile = compile_options(model, options);
  return prepare_tasks(std::move(model.graph), compile)->distinct.front();
}

target::Target resolved(const std::string& text) {
  ModelOptions options;
  options.target = text;
  return resolve_target(options).value();
}

// A target with all facts stated: those of the machine at hand are not part of it.
struct Stated {
  std::string text;
  target::Target target;
};

Stated stated(const std::string& text, const target::Target& caches,
              const target::Machine& machine) {
  target::Target target = resolved(text);
  target.l1_bytes = caches.l1_bytes;
  target.l2_bytes = caches.l2_bytes;
  target.l3_bytes = caches.l3_bytes;
  target.machine = machine;
  return {text, target};
}

// Cores of each, as their makers' manuals and usual measurements have them.
Stated zen4(int threads) {
  return stated(fmt::format("cpu -mcpu=znver4 -threads={}", threads),
                {.l1_bytes = 32 << 10, .l2_bytes = 1 << 20, .l3_bytes = 32 << 20},
                {.ghz = 3.3,
                 .fmas_per_cycle = 2,
                 .fma_bytes_per_cycle = 64,
                 .loads_per_cycle = 2,
                 .load_bytes_per_cycle = 64,
                 .l2_bandwidth = 32,
                 .l3_bandwidth = 20,
                 .dram_bandwidth = 10});
}

Stated sapphire_rapids() {
  return stated("cpu -mcpu=sapphirerapids -threads=1",
                {.l1_bytes = 48 << 10, .l2_bytes = 2 << 20, .l3_bytes = 60 << 20},
                {.ghz = 2.8,
                 .fmas_per_cycle = 2,
                 .fma_bytes_per_cycle = 128,
                 .loads_per_cycle = 2,
                 .load_bytes_per_cycle = 128,
                 .l2_bandwidth = 40,
                 .l3_bandwidth = 9,
                 .dram_bandwidth = 5});
}

// Two panels of columns, four vectors and three.
TEST(DefaultSchedule, IsTheAnalyticModels) {
  const Stated machine = zen4(2);
  const graph::Task task = task_of("matmul:m=119,n=110,k=103", machine.text);
  const Schedule usual = usual_schedule(task, machine.target, {});
  const Schedule chosen = default_schedule(task, machine.target, {});
  EXPECT_NE(schedule::hash(chosen.trace), schedule::hash(usual.trace));
  ASSERT_TRUE(chosen.otherwise);
  EXPECT_EQ(schedule::hash(chosen.otherwise->trace), schedule::hash(usual.trace));
  EXPECT_EQ(chosen.origin, Origin::Default);
}

TEST(DefaultSchedule, HasAnotherAlgorithmWhereThatPromisesMuch) {
  for (const Stated& machine : {zen4(1), sapphire_rapids()}) {
    SCOPED_TRACE(machine.text);
    const auto algorithm = [&](const std::string& spec, const Algorithms& allowed) {
      return default_schedule(task_of(spec, machine.text), machine.target, allowed).algorithm;
    };
    const std::string large = "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1";
    EXPECT_TRUE(algorithm(large, {}).starts_with("winograd")) << algorithm(large, {});
    EXPECT_EQ(algorithm(large, {"direct"}), "direct");
    EXPECT_EQ(algorithm(large, {"winograd2"}), "winograd2");
    EXPECT_EQ(algorithm("conv2d:h=4,w=4,ic=16,oc=16,kh=3,kw=3,pad=1", {}), "direct");
    EXPECT_EQ(algorithm("dense:m=64,n=64,k=512", {}), "direct");
    EXPECT_EQ(algorithm("dense:m=512,n=512,k=512", {}), "strassen");
  }
}

// Its weights come from the third cache, panel by panel, and each is used by a few tiles only.
TEST(DefaultSchedule, AsksAheadForWeightsThatAreFarAway) {
  for (const Stated& machine : {zen4(1), sapphire_rapids()}) {
    SCOPED_TRACE(machine.text);
    const auto asks = [&](const std::string& spec) {
      const auto& chosen = default_schedule(task_of(spec, machine.text), machine.target, {});
      EXPECT_TRUE(chosen.algorithm.starts_with("winograd")) << chosen.algorithm;
      return schedule::to_string(chosen.trace).find("prefetch next") != std::string::npos;
    };
    EXPECT_TRUE(asks("conv2d:h=16,w=40,ic=256,oc=256,kh=3,kw=3,pad=1"));
    EXPECT_FALSE(asks("conv2d:h=56,w=56,ic=32,oc=32,kh=3,kw=3,pad=1"));
  }
}

// Transformed filters of 4x4 tiles are 38 MB, those of 2x2 tiles 17 MB.
TEST(DefaultSchedule, ReadsLessWhereWeightsComeFromMemoryEachTime) {
  const Stated machine = zen4(1);
  const graph::Task task = task_of("conv2d:h=7,w=7,ic=512,oc=512,kh=3,kw=3,pad=1", machine.text);
  constexpr bool kCold = true;
  const Schedule hot = default_schedule(task, machine.target, {});
  const Schedule cold = default_schedule(task, machine.target, {}, kCold);
  EXPECT_EQ(cold.algorithm, "winograd2") << "and " << hot.algorithm << " where they stay";
  EXPECT_NE(schedule::to_string(cold.trace).find("prefetch next"), std::string::npos);
}

// Vectors of 16 channels cross groups of 40: each lane has an address of its own, unless the groups
// are merged.
TEST(DefaultSchedule, DoesNotGatherWhatGroupsShare) {
  const Stated machine = zen4(1);
  const graph::Task task =
      task_of("conv2d:h=49,w=49,ic=40,oc=80,kh=3,kw=3,pad=1,groups=2", machine.text);
  EXPECT_EQ(default_schedule(task, machine.target, {}).algorithm, "merged");
}

// What its sums cost depends on the last cache and what comes from it.
TEST(DefaultSchedule, MultipliesWithFewerProductsWhereSumsAreCheap) {
  Stated slow = zen4(1);
  slow.target.l2_bytes = 64 << 10;
  slow.target.l3_bytes = 128 << 10;
  slow.target.machine.l3_bandwidth = slow.target.machine.dram_bandwidth = 1;
  EXPECT_EQ(
      default_schedule(task_of("dense:m=512,n=512,k=512", slow.text), slow.target, {}).algorithm,
      "direct");
}

// Facts change nothing about a target's text, and what was chosen before is not chosen again.
TEST(DefaultSchedules, AreChosenOnceForEachOwner) {
  const Stated fast = zen4(1);
  Stated slow = fast;
  slow.target.l2_bytes = 64 << 10;
  slow.target.l3_bytes = 128 << 10;
  slow.target.machine.l3_bandwidth = slow.target.machine.dram_bandwidth = 1;
  const graph::Task task = task_of("dense:m=512,n=512,k=512", fast.text);
  DefaultSchedules one, other;
  EXPECT_EQ(one.of(task, fast.target, {}).algorithm, "strassen");
  EXPECT_EQ(one.of(task, slow.target, {}).algorithm, "strassen");
  EXPECT_EQ(one.of(task, fast.target, {"direct"}).algorithm, "direct");
  EXPECT_EQ(other.of(task, slow.target, {}).algorithm, "direct");
}

// Loading a model again with the same options finds what was chosen the first time.
TEST(DefaultSchedules, AreHandedDownWithAModel) {
  const SourceOptions source{.model = {.model = "matmul:m=8,n=8,k=8", .target = zen4(1).text}};
  const LoadedModel first = load_model(source.model).value();
  const auto again = prepare_model(load_model(source.model).value(), source);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(first.defaults, source.model.defaults);
  EXPECT_EQ(again->model.defaults, first.defaults);
  EXPECT_EQ(again->compile.defaults, first.defaults);
}

TEST(DefaultSchedule, SharesWhatThereIsMuchOf) {
  const Stated machine = zen4(4);
  const auto loops = [&](const std::string& spec) {
    return schedule::to_string(
        default_schedule(task_of(spec, machine.text), machine.target, {}).trace);
  };
  const std::string rows = loops("dense:m=1024,n=40,k=64");
  EXPECT_NE(rows.find("parallel output i.0"), std::string::npos) << rows;
  const std::string columns = loops("dense:m=2,n=4096,k=64");
  EXPECT_NE(columns.find("parallel output j.0"), std::string::npos) << columns;
}

// Few rows and columns and a long reduction: there is nothing else to share.
TEST(DefaultSchedule, SharesTheReductionAmongManyThreads) {
  const Stated machine = zen4(16);
  const graph::Task task = task_of("dense:m=4,n=32,k=4000", machine.text);
  const Schedule chosen = default_schedule(task, machine.target, {});
  EXPECT_NE(schedule::to_string(chosen.trace).find("parallel rf.anchor"), std::string::npos)
      << schedule::to_string(chosen.trace);
}

// Rows that do not end with a vector are summed in parts of several vectors.
TEST(DefaultSchedule, SumsRowsInWideParts) {
  for (const Stated& machine : {zen4(1), sapphire_rapids()}) {
    for (const char* spec : {"softmax:m=469,n=101", "layernorm:m=117,n=178"}) {
      const std::string loops = schedule::to_string(
          default_schedule(task_of(spec, machine.text), machine.target, {}).trace);
      const bool narrow = loops.find("split sum r0 16\n") != std::string::npos ||
                          loops.find("split var r0 16\n") != std::string::npos;
      EXPECT_FALSE(narrow) << machine.text << " " << spec << "\n" << loops;
      EXPECT_NE(loops.find("vectorize rf."), std::string::npos) << loops;
    }
  }
}

TEST(DefaultSchedule, ThatCannotBeBuiltGivesWayWithoutAWord) {
  const std::string target = "cpu -mcpu=x86-64 -threads=1";
  const graph::Task task = task_of("matmul:m=16,n=16,k=16", target);
  const Schedule usual = usual_schedule(task, resolved(target), {});
  Schedule promised = recorded_schedule(schedule::parse_trace("unroll output nothing\n").value());
  promised.origin = Origin::Default;
  promised.otherwise = std::make_shared<const Schedule>(usual);
  const auto compiled = compile_task(task, promised, resolved(target), "kernel");
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(schedule::hash(compiled->schedule.trace), schedule::hash(usual.trace));
  EXPECT_TRUE(compiled->fallbacks.empty());
}

}  // namespace
}  // namespace attune::model
