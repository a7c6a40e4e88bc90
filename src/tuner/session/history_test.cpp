#include "tuner/session/history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "tuner/features/features.h"
#include "tuner/records/transfer.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::session {
namespace {

constexpr const char* kTarget = "cpu -threads=1";

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    path_ = base + "/attune_history_test." + std::to_string(getpid());
    TearDown();
    auto store = records::open_sqlite_store(path_ + ".db");
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  void TearDown() override {
    store_.reset();
    for (const char* end : {".db", ".db-wal", ".db-shm"}) std::filesystem::remove(path_ + end);
  }

  static Task task_of(const std::string& key, std::int64_t size) {
    Task task{.key = key, .name = "product " + key, .flops = 1e6, .algorithms = {}};
    task.algorithms.push_back(
        {"direct", std::make_shared<ir::Program>(space::sample_program(size, 96, 64)), 1e-5});
    return task;
  }

  void add(const std::string& key, const std::string& trace, outcome::Outcome outcome,
           const std::string& target = kTarget) {
    records::Record record;
    record.task_key = key;
    record.target = target;
    record.trace = trace;
    record.trace_hash = std::hash<std::string>{}(trace);
    record.outcome = std::move(outcome);
    ASSERT_TRUE(store_->add(std::vector{record}).ok());
  }

  // Schedules of the sample template, the n-th taking n + 1 microseconds; how many there are.
  std::size_t add_trials(const std::string& key, std::int64_t size, std::size_t count,
                         const std::string& target = kTarget) {
    const space::TemplateSpace space = space::sample_space(size, 96, 64);
    std::size_t added = 0;
    for (std::uint64_t i = 0; added < count && i < space.size(); ++i) {
      const space::Point point = space.point_at(i);
      if (!space.schedule_of(point).ok()) continue;
      add(key, schedule::to_string(space.trace_of(point)),
          outcome::Timing{.best_us = static_cast<double>(++added), .repeats = 1}, target);
    }
    return added;
  }

  LoadedHistory load(HistoryOptions options = {}) {
    auto loaded = load_history({store_.get()}, options);
    CHECK(loaded.ok(), "history loads");
    return std::move(*loaded);
  }

  std::string path_;
  std::unique_ptr<records::Store> store_;
};

TEST_F(HistoryTest, TrialsOfOtherTasksBecomeGroups) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  ASSERT_TRUE(store_->put_task(definition_of(task_of("bb", 128))).ok());
  add_trials("aa", 64, 20);
  add_trials("bb", 128, 12);
  const LoadedHistory loaded = load({.except_task = "aa", .except_target = kTarget});
  ASSERT_EQ(loaded.history->groups().size(), 1u);
  const auto& group = loaded.history->groups()[0];
  EXPECT_EQ(group.task_key, "bb");
  EXPECT_EQ(group.width, features::width(features::Kind::Relation));
  ASSERT_EQ(group.log_ratio.size(), 12u);
  EXPECT_EQ(group.features.size(), 12 * group.width);
  EXPECT_EQ(group.analytic.size(), 12u);
  EXPECT_EQ(group.log_ratio[0], 0);
  EXPECT_FLOAT_EQ(group.log_ratio[11], std::log(12.0F));
  EXPECT_EQ(*std::min_element(group.analytic.begin(), group.analytic.end()), 0);
  EXPECT_EQ(load().history->groups().size(), 2u);
  EXPECT_EQ(describe(loaded), "learning from 12 trials of 1 task");
}

TEST_F(HistoryTest, TheSameTaskOnAnotherTargetTeaches) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  add_trials("aa", 64, 20);
  add_trials("aa", 64, 12, "cpu -threads=2");
  const HistoryOptions options{.except_task = "aa", .except_target = kTarget};
  const LoadedHistory loaded = load(options);
  ASSERT_EQ(loaded.history->groups().size(), 1u);
  EXPECT_EQ(loaded.history->groups()[0].target, "cpu -threads=2");
  EXPECT_EQ(loaded.counts.used, 12u);
  // A further store is nobody's own.
  const auto both = load_history({store_.get(), store_.get()}, options);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->history->groups().size(), 2u);
  EXPECT_EQ(both->tasks(), 1u);
}

TEST_F(HistoryTest, TooFewTrialsOfATaskAreLeftOut) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  add_trials("aa", 64, 7);
  const LoadedHistory loaded = load();
  EXPECT_TRUE(loaded.history->empty());
  EXPECT_EQ(loaded.counts.alone, 7u);
  EXPECT_EQ(describe(loaded), "history left out: 7 of tasks with too few to compare");
}

TEST_F(HistoryTest, FailuresAreAsSlowAsTheSlowest) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  add_trials("aa", 64, 8);
  const auto untouched = schedule::to_string(schedule::Trace{schedule::Unroll{"output", "i"}});
  add("aa", untouched, outcome::TimedOut{});
  const auto loaded = load();
  const auto& group = loaded.history->groups().at(0);
  ASSERT_EQ(group.log_ratio.size(), 9u);
  EXPECT_EQ(group.log_ratio[8], group.log_ratio[7]);
}

TEST_F(HistoryTest, WhatCannotBeUsedIsCounted) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  add_trials("aa", 64, 8);
  add("aa", "split nowhere i 4\n", outcome::Timing{.best_us = 1, .repeats = 1});
  add("aa", "no such step\n", outcome::Timing{.best_us = 2, .repeats = 1});
  add("aa", "algorithm winograd4\n", outcome::Timing{.best_us = 3, .repeats = 1});
  add("cc", "unroll output i\n", outcome::Timing{.best_us = 3, .repeats = 1});
  add("aa", "unroll output i\n", outcome::Timing{.best_us = 3, .repeats = 1}, "cpu -mcpu=other");
  HistoryOptions options;
  options.resolve = [](const target::Target& target) -> Result<target::Target> {
    if (target.attribute("mcpu") == "other") return invalid("unknown processor 'other'");
    return target;
  };
  const LoadedHistory loaded = load(options);
  EXPECT_EQ(loaded.counts.used, 8u);
  EXPECT_EQ(loaded.counts.damaged, 2u);
  EXPECT_EQ(loaded.counts.undefined, 2u);
  EXPECT_EQ(loaded.counts.foreign, 1u);
  EXPECT_EQ(describe(loaded),
            "learning from 8 trials of 1 task; left out: 2 of tasks without definition, 2 "
            "that do not fit this version, 1 of unknown targets");
}

TEST_F(HistoryTest, RecordsOfAnotherStoreTeachAsTheyDidThere) {
  ASSERT_TRUE(store_->put_task(definition_of(task_of("aa", 64))).ok());
  add_trials("aa", 64, 12);
  const std::string file = path_ + ".jsonl", other = path_ + ".other.db";
  ASSERT_TRUE(records::export_records(*store_, {}, file).ok());
  {
    auto store = records::open_sqlite_store(other).value();
    ASSERT_TRUE(records::import_records(*store, file).ok());
    const auto loaded = load_history({store.get()}, {});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(loaded->counts.used, 12u);
    EXPECT_EQ(loaded->counts.undefined, 0u);
    EXPECT_EQ(loaded->history->groups().at(0).features, load().history->groups().at(0).features);
  }
  for (const char* end : {".jsonl", ".other.db", ".other.db-wal", ".other.db-shm"}) {
    std::filesystem::remove(path_ + end);
  }
}

TEST_F(HistoryTest, StaysSmallAndTheSameWhateverTheThreads) {
  for (const char* key : {"aa", "bb", "cc"}) {
    ASSERT_TRUE(store_->put_task(definition_of(task_of(key, 64))).ok());
    add_trials(key, 64, 60);
  }
  const LoadedHistory one = load({.per_group = 40, .total = 90, .threads = 1});
  const LoadedHistory three = load({.per_group = 40, .total = 90, .threads = 3});
  ASSERT_EQ(one.history->groups().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& group = one.history->groups()[i];
    EXPECT_LE(group.log_ratio.size(), 30u);
    EXPECT_EQ(group.log_ratio[0], 0);
    EXPECT_EQ(group.features, three.history->groups()[i].features);
    EXPECT_EQ(group.log_ratio, three.history->groups()[i].log_ratio);
  }
}

}  // namespace
}  // namespace attune::session
