#include <gtest/gtest.h>

#include "tuner/records/sample_records_testing.h"

namespace attune::records {
namespace {

class TaskStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite_store(directory_.file("records.db"));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(opened).value();
  }
  void add(Record record) { ASSERT_TRUE(store_->add(std::vector{std::move(record)}).ok()); }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(TaskStoreTest, DefinitionsComeBackAndAlgorithmsAreAdded) {
  EXPECT_FALSE(store_->task(kTask).value().has_value());
  const TaskDefinition first{kTask, "matmul", 512, {{"direct", "program a {\n}\n", 1e-5}}};
  ASSERT_TRUE(store_->put_task(first).ok());
  TaskDefinition second = first;
  second.name = "renamed";
  second.programs = {{"direct", "program b {\n}\n", 1e-5},
                     {"a_fast_one", "program c {\n}\n", 1e-3}};
  ASSERT_TRUE(store_->put_task(second).ok());
  // A run that allows the direct algorithm alone takes nothing away.
  ASSERT_TRUE(store_->put_task(first).ok());
  const TaskDefinition found = store_->task(kTask).value().value();
  EXPECT_EQ(found.name, "matmul");
  EXPECT_EQ(found.flops, 512);
  ASSERT_EQ(found.programs.size(), 2u);
  EXPECT_EQ(found.programs[0].algorithm, "direct");
  EXPECT_EQ(found.programs[0].text, "program a {\n}\n");
  EXPECT_EQ(found.programs[1].algorithm, "a_fast_one");
  EXPECT_EQ(found.programs[1].tolerance, 1e-3);
}

TEST_F(TaskStoreTest, SamplesTakeTheFastestAndSomeOfTheRest) {
  for (int i = 0; i < 40; ++i) add(sample_record(i, timing(100 + i)));
  for (int i = 40; i < 50; ++i) add(sample_record(i, outcome::TimedOut{}));
  add(sample_record(50, outcome::InfrastructureLost{}));
  add(sample_record(0, timing(500)));  // the same trace again, slower
  const auto all = store_->sample_trials({.fastest = 100, .spread = 100}).value();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].task_key, kTask);
  EXPECT_EQ(all[0].target, kTarget);
  ASSERT_EQ(all[0].trials.size(), 50u);
  EXPECT_EQ(all[0].trials[0].time_us, 100);
  EXPECT_EQ(all[0].trials[39].time_us, 139);
  EXPECT_FALSE(all[0].trials[40].time_us.has_value());
  const auto some = store_->sample_trials({.fastest = 5, .spread = 10}).value();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_GE(some[0].trials.size(), 10u);
  EXPECT_LE(some[0].trials.size(), 15u);
  EXPECT_EQ(some[0].trials[4].time_us, 104);
}

TEST_F(TaskStoreTest, SamplesKeepApartWhatDoesNotCompare) {
  Record cold = sample_record(1, timing(7));
  cold.weights = Weights::Cold;
  Record gpu = sample_record(2, timing(3));
  gpu.target = "cuda -arch=sm_90a";
  Record other = sample_record(3, timing(5));
  other.task_key = "0123456789abcdef";
  for (const Record& record : {sample_record(0, timing(1)), cold, gpu, other}) add(record);
  EXPECT_EQ(store_->sample_trials({}).value().size(), 4u);
  const auto cpu =
      store_->sample_trials({.except_task = kTask, .except_target = kTarget, .target_kind = "cpu"})
          .value();
  ASSERT_EQ(cpu.size(), 1u);
  EXPECT_EQ(cpu[0].task_key, other.task_key);
  const auto elsewhere =
      store_->sample_trials({.except_task = kTask, .except_target = kTarget}).value();
  ASSERT_EQ(elsewhere.size(), 2u) << "the same task on another target teaches";
  EXPECT_EQ(elsewhere[0].target, gpu.target);
}

}  // namespace
}  // namespace attune::records
