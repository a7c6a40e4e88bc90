#include "compiler/model/schedules/bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "compiler/ir/text/print.h"
#include "compiler/model/schedules/shipped.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

ir::Program product(std::int64_t m, std::int64_t n, std::int64_t k) {
  ir::Program program{"product", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {m, k});
  const ir::Buffer b = ir::add_input(program, "b", ir::kF32, {k, n});
  const ir::Buffer anchor = ir::add_reduce(
      program, "anchor", {{"i", m}, {"j", n}}, {{"k", k}}, ir::Reduction::Sum,
      ir::load(a, {ir::var("i"), ir::var("k")}) * ir::load(b, {ir::var("k"), ir::var("j")}));
  program.outputs = {ir::add_compute(program, "output", {{"i", m}, {"j", n}},
                                     ir::load(anchor, {ir::var("i"), ir::var("j")}))};
  return program;
}

target::Target target_of(int threads, const std::string& cpu = "znver3") {
  target::Target target;
  target.set("mcpu", cpu);
  target.threads = threads;
  return target;
}

class ShippedTest : public testing::Test {
 protected:
  ScheduledTask task(const std::string& key) const {
    return {.key = key,
            .program_of = [this](const std::string& algorithm) -> const ir::Program* {
              return algorithm == "direct" ? &program_ : nullptr;
            },
            .default_trace = slow_};
  }
  BundledTask bundled(const std::string& key, const target::Target& target, std::int64_t m,
                      const schedule::Trace& trace) const {
    return {key,
            "product",
            bundled_target(target),
            records::Weights::Hot,
            shape_of(product(m, 256, 256)),
            {{schedule::to_string(trace), 5}}};
  }

  const ir::Program program_ = product(256, 256, 256);
  const schedule::Trace good_ = tunings::default_trace(program_, target_of(1));
  const schedule::Trace slow_ = {schedule::Split{"anchor", "k", {2}}};
};

TEST(TaskShape, MeasuresHowFarTasksAreApart) {
  const TaskShape shape = shape_of(product(64, 32, 16));
  EXPECT_EQ(shape.extents,
            (std::vector<std::pair<std::string, std::int64_t>>{{"i", 64}, {"j", 32}, {"k", 16}}));
  EXPECT_EQ(distance(shape, shape), 0);
  EXPECT_DOUBLE_EQ(distance(shape, shape_of(product(128, 16, 16))), 2);
  TaskShape other = shape;
  other.family = "pooling f32";
  EXPECT_TRUE(std::isinf(distance(shape, other)));
}

TEST_F(ShippedTest, TheSameTaskOnTheSameTargetIsTrusted) {
  const Bundle bundle = {bundled("aa", target_of(1), 256, slow_)};
  ScheduledTask wanted = task("aa");
  wanted.default_trace = good_;  // which the model thinks is faster
  const auto found = shipped_schedules(bundle, wanted, target_of(1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].same_task);
  EXPECT_TRUE(found[0].measured);
  EXPECT_EQ(schedule::hash(found[0].trace), schedule::hash(slow_));
  EXPECT_EQ(found[0].algorithm, "direct");
}

TEST_F(ShippedTest, MachinesOfOneProcessorFamilyShareTheirSchedules) {
  const Bundle bundle = {bundled("aa", target_of(1), 256, slow_)};
  ScheduledTask wanted = task("aa");
  wanted.default_trace = good_;
  target::Target sibling = target_of(1);
  sibling.set("mattr", "-pku,-rdpru,+wbnoinvd");
  sibling.set("triple", "x86_64-unknown-linux-gnu");
  EXPECT_EQ(shipped_schedules(bundle, wanted, sibling).size(), 1u);
}

TEST_F(ShippedTest, ANeighbourIsTakenWhereItLooksNoSlowerThanTheDefault) {
  const Bundle bundle = {bundled("bb", target_of(1), 512, good_)};
  const auto found = shipped_schedules(bundle, task("aa"), target_of(1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].same_task);
  EXPECT_FALSE(found[0].measured);
  ScheduledTask wanted = task("aa");
  wanted.default_trace = good_;
  const Bundle slow = {bundled("bb", target_of(1), 512, slow_)};
  EXPECT_TRUE(shipped_schedules(slow, wanted, target_of(1)).empty());
}

TEST_F(ShippedTest, WhatDoesNotFitIsLeftAlone) {
  const auto none = [&](const BundledTask& other) {
    return shipped_schedules({other}, task("aa"), target_of(1)).empty();
  };
  EXPECT_FALSE(none(bundled("bb", target_of(1), 256, good_)));
  EXPECT_FALSE(none(bundled("bb", target_of(2), 256, good_)));           // other threads
  EXPECT_TRUE(none(bundled("bb", target_of(1, "znver4"), 256, good_)));  // another processor
  target::Target narrow = target_of(1);
  narrow.vector_bytes = 16;
  EXPECT_TRUE(none(bundled("aa", narrow, 256, good_)));             // other vectors
  EXPECT_TRUE(none(bundled("bb", target_of(1), 256 * 16, good_)));  // much larger
  EXPECT_TRUE(none(bundled("aa", target_of(1), 256, {schedule::Algorithm{"winograd4"}})));
  EXPECT_TRUE(none(bundled("aa", target_of(1), 256, {schedule::Split{"epilogue.0", "i", {2}}})));
}

TEST_F(ShippedTest, TimesAreOnlyOfTheSameThreadsAndWeights) {
  BundledTask cold = bundled("aa", target_of(1), 256, good_);
  cold.weights = records::Weights::Cold;
  const auto measured = [&](const BundledTask& other) {
    const auto found = shipped_schedules({other}, task("aa"), target_of(1));
    return found.size() == 1 && found[0].measured;
  };
  EXPECT_TRUE(measured(bundled("aa", target_of(1), 256, good_)));
  EXPECT_FALSE(measured(bundled("aa", target_of(2), 256, good_)));
  EXPECT_FALSE(measured(cold));
}

TEST_F(ShippedTest, WithoutAShapeATaskServesNoOther) {
  BundledTask bare = bundled("aa", target_of(1), 256, good_);
  bare.shape = {};
  EXPECT_EQ(shipped_schedules({bare}, task("aa"), target_of(1)).size(), 1u);
  EXPECT_TRUE(shipped_schedules({bare}, task("bb"), target_of(1)).empty());
}

TEST_F(ShippedTest, TheNearestComesFirst) {
  const Bundle bundle = {bundled("bb", target_of(1), 512, good_),
                         bundled("cc", target_of(1), 256, slow_),
                         bundled("aa", target_of(2), 256, good_)};
  const auto found = shipped_schedules(bundle, task("aa"), target_of(1), 8);
  ASSERT_EQ(found.size(), 2u);  // the good one of two tasks is one schedule
  EXPECT_EQ(schedule::hash(found[0].trace), schedule::hash(slow_));
}

TEST(Bundle, ReadsWhatItWrites) {
  const Bundle bundle = {{"aa",
                          "product",
                          {"znver3", 32, 2},
                          records::Weights::Cold,
                          shape_of(product(8, 8, 8)),
                          {{"split anchor k 2\n", 1.5}}}};
  const auto read = parse_bundle(to_lines(bundle));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(to_lines(*read), to_lines(bundle));
  EXPECT_EQ(read->front().shape, bundle.front().shape);
  EXPECT_EQ(read->front().weights, records::Weights::Cold);
}

TEST(Bundle, TheFasterSchedulesOfTwoStay) {
  const auto entry = [](const std::string& key, int threads,
                        std::vector<BundledSchedule> schedules) {
    return BundledTask{key, "product",           {"znver3", 32, threads}, records::Weights::Hot,
                       {},  std::move(schedules)};
  };
  const Bundle held = {entry("aa", 1, {{"one", 2}, {"two", 5}}), entry("bb", 1, {{"one", 1}})};
  const Bundle added = {entry("aa", 1, {{"two", 1}, {"three", 3}}), entry("aa", 2, {{"one", 9}})};
  const Bundle both = merged(held, added, 2);
  ASSERT_EQ(both.size(), 3u);
  ASSERT_EQ(both[0].best.size(), 2u);
  EXPECT_EQ(both[0].best[0].trace, "two");
  EXPECT_EQ(both[0].best[0].time_us, 1);
  EXPECT_EQ(both[0].best[1].trace, "one");
  EXPECT_EQ(both[1].key, "bb");
  EXPECT_EQ(both[2].target.threads, 2);
}

TEST(Bundle, NamesTheLineThatIsDamaged) {
  const auto damaged = parse_bundle("\n{\"schema\": 3}\n");
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().message,
            "line 2 of the bundle: it has schema 3, this attune reads up to 2");
  EXPECT_EQ(damaged.error().hint, "update attune; the bundle was not changed");
  EXPECT_FALSE(parse_bundle("{").ok());
  EXPECT_FALSE(parse_bundle(R"({"schema":1e30})").ok());
  EXPECT_FALSE(parse_bundle(R"({"schema":1,"key":"aa","name":"n","target":"abacus"})").ok());
}

TEST(Bundle, OfTheFirstSchemaIsRead) {
  const auto bundle = parse_bundle(
      R"({"schema":1,"key":"aa","name":"n","target":"cpu -triple=x86_64-pc-linux-gnu -mcpu=haswell )"
      R"(-threads=2","weights":"hot","family":"f","shape":{"i":4},"best":[{"us":1.5,"trace":"t"}]})");
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_EQ(bundle->front().target, (BundledTarget{"haswell", 32, 2}));
  EXPECT_EQ(bundle->front().best.front().trace, "t");
}

TEST(Bundle, TheShippedOneIsSound) {
  const auto bundle = shipped_bundle();
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  for (const BundledTask& task : *bundle) {
    EXPECT_FALSE(task.target.cpu.empty());
    EXPECT_GE(task.target.vector_bytes, 16);
    EXPECT_GE(task.target.threads, 1);
    EXPECT_FALSE(task.best.empty());
    for (const BundledSchedule& schedule : task.best) {
      EXPECT_TRUE(schedule::parse_trace(schedule.trace).ok()) << schedule.trace;
    }
  }
}

TEST(Bundle, IsMadeOfTheFastestOfAStore) {
  const std::string path = testing::TempDir() + "/attune_bundle_test." + std::to_string(getpid());
  auto store = records::open_sqlite_store(path).value();
  const ir::Program program = product(8, 8, 8);
  ASSERT_TRUE(
      store->put_task({"aa", "product", 1024, {{"direct", ir::to_string(program), 0}}}).ok());
  for (int i = 0; i < 8; ++i) {
    records::Record record;
    record.task_key = i == 5 ? "undefined" : "aa";
    record.target = "cpu -triple=x86_64-linux-gnu -mcpu=znver4 -mattr=-pku -threads=1";
    // Machines of one processor count as one, even with other features; others are not known.
    if (i == 6) record.target = "cpu -triple=x86_64-linux-gnu -mcpu=znver4 -threads=1";
    if (i == 7) record.target = "cpu -triple=x86_64-linux-gnu -mcpu=nothing -threads=1";
    record.trace = "split anchor k " + std::to_string(i + 2) + "\n";
    record.trace_hash = static_cast<std::uint64_t>(i);
    record.outcome = outcome::Timing{.best_us = 10.0 - i, .repeats = 1};
    record.verified = i != 4;
    ASSERT_TRUE(store->add(std::vector{record}).ok());
  }
  std::size_t left_out = 0;
  const auto bundle = make_bundle(*store, 2, left_out);
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_EQ(left_out, 1u);
  ASSERT_EQ(bundle->size(), 2u);
  EXPECT_EQ(bundle->front().shape, shape_of(program));
  EXPECT_EQ(bundle->front().target, (BundledTarget{"znver4", 64, 1}));
  ASSERT_EQ(bundle->front().best.size(), 2u);
  EXPECT_EQ(bundle->front().best[0].trace, "split anchor k 8\n");
  EXPECT_EQ(bundle->front().best[1].trace, "split anchor k 5\n");
  EXPECT_EQ(bundle->back().key, "undefined");
  EXPECT_EQ(bundle->back().shape, TaskShape());
  store.reset();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
}

}  // namespace
}  // namespace attune::model
