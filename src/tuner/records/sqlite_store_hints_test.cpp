#include <gtest/gtest.h>

#include <optional>

#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_schema.h"
#include "tuner/records/store.h"

namespace attune::records {
namespace {

Hint hint(std::uint64_t trace, double time_us, const std::string& place,
          const std::string& task = kTask) {
  return {.task_key = task,
          .task_name = "matmul:" + task,
          .trace = "unroll anchor i" + std::to_string(trace) + "\n",
          .trace_hash = trace,
          .time_us = time_us,
          .foreign_target = place,
          .source = "autotvm a.log",
          .created_at_ms = 5,
          .anchor_key = "anchor of " + task,
          .config = "direct tile=" + std::to_string(trace)};
}

class HintsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = open_sqlite_store(directory_.file("records.db"));
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  std::size_t add(const std::vector<Hint>& hints) { return store_->add_hints(hints).value(); }
  // "1 3 2": traces in the order in which they are to be tried.
  std::string order(const HintFilter& filter = {.task = kTask}) {
    const std::vector<Hint> found = store_->hints(filter).value();
    std::string text;
    for (const Hint& each : found) {
      text += (text.empty() ? "" : " ") + std::to_string(each.trace_hash);
    }
    return text;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(HintsTest, AreKeptWhole) {
  EXPECT_EQ(add({hint(1, 10, "llvm")}), 1u);
  const std::vector<Hint> found = store_->hints({.task = kTask}).value();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].trace, "unroll anchor i1\n");
  EXPECT_EQ(found[0].time_us, 10);
  EXPECT_EQ(found[0].foreign_target, "llvm");
  EXPECT_EQ(found[0].source, "autotvm a.log");
  EXPECT_EQ(found[0].created_at_ms, 5);
  EXPECT_EQ(found[0].config, "direct tile=1");
}

TEST_F(HintsTest, TheSameScheduleOfOnePlaceIsOneHintWithItsLowestTime) {
  EXPECT_EQ(add({hint(1, 10, "llvm"), hint(1, 8, "llvm"), hint(1, 9, "llvm")}), 1u);
  EXPECT_EQ(add({hint(1, 7, "llvm")}), 0u);
  EXPECT_EQ(store_->hints({.task = kTask}).value().at(0).time_us, 7);
}

TEST_F(HintsTest, TheBestOfEveryPlaceComesFirst) {
  add({hint(1, 10, "slow"), hint(2, 11, "slow"), hint(3, 2, "fast"), hint(4, 1, "fast")});
  EXPECT_EQ(order(), "4 1 3 2");
  EXPECT_EQ(order({.task = kTask, .limit = 2}), "4 1");
  // Known from two places, it is tried once.
  add({hint(4, 20, "slow")});
  EXPECT_EQ(order(), "4 1 3 2");
}

TEST_F(HintsTest, AreFoundByKeyOrName) {
  add({hint(1, 10, "llvm"), hint(2, 5, "llvm", "0000000000000001")});
  EXPECT_EQ(order(), "1");
  EXPECT_EQ(order({.task = "matmul:0000000000000001"}), "2");
  EXPECT_EQ(order({.anchor = "anchor of 0000000000000001"}), "2");
  EXPECT_EQ(order({}), "2 1");
}

TEST_F(HintsTest, AreNoRecords) {
  add({hint(1, 10, "llvm")});
  EXPECT_TRUE(store_->list({}).value().empty());
  EXPECT_FALSE(store_->best({kTask, kTarget, Weights::Hot, false}).value().has_value());
  EXPECT_TRUE(store_->known_traces(kTask, kTarget).value().empty());
  EXPECT_EQ(store_->count_trials(kTask, kTarget).value().trials, 0u);
}

}  // namespace
}  // namespace attune::records
