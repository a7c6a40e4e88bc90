#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

const BestQuery kHot{kTask, kTarget, Weights::Hot, true};

class RecordStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite_store(directory_.file("records.db"));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(opened).value();
  }
  std::vector<RecordId> add(const std::vector<Record>& records) {
    auto ids = store_->add(records);
    CHECK(ids.ok(), ids.error().message);
    return *ids;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(RecordStoreTest, RecordsComeBackAsTheyWere) {
  Record record = sample_record(5, timing(3));
  record.session = 12;
  record.trace += std::string("x\0y", 3);
  const std::vector<RecordId> ids = add({record, sample_record(6, outcome::TimedOut{})});
  const auto listed = store_->list({});
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[0].id, ids[1]);
  EXPECT_EQ((*listed)[1].id, ids[0]);
  EXPECT_EQ((*listed)[1].session, 12);
  EXPECT_EQ(content((*listed)[1]), content(record));
}

TEST_F(RecordStoreTest, BestIsTheFastestVerifiedOfItsKind) {
  EXPECT_FALSE(store_->best(kHot).value().has_value());
  Record unverified = sample_record(0, timing(1));
  unverified.verified = false;
  Record cold = sample_record(1, timing(2));
  cold.weights = Weights::Cold;
  Record other_target = sample_record(2, timing(3));
  other_target.target = "cuda -arch=sm_90a";
  Record other_task = sample_record(3, timing(4));
  other_task.task_key = "1234";
  add({unverified, cold, other_target, other_task, sample_record(4, timing(6)),
       sample_record(5, timing(5)), sample_record(6, timing(std::nan(""))),
       sample_record(7, outcome::WrongAnswer{})});
  EXPECT_EQ(store_->best(kHot).value()->number, 5);
  EXPECT_EQ(store_->best({kTask, kTarget, Weights::Cold}).value()->number, 1);
  EXPECT_EQ(store_->best({kTask, kTarget, Weights::Hot, false}).value()->number, 0);
  EXPECT_EQ(store_->best({"1234", kTarget}).value()->number, 3);
  EXPECT_FALSE(store_->best({"1234", "cuda"}).value().has_value());
}

TEST_F(RecordStoreTest, TopHasEachTraceOnce) {
  Record again = sample_record(1, timing(9));
  add({sample_record(0, timing(8)), again, sample_record(1, timing(7)),
       sample_record(2, timing(10)), sample_record(3, timing(11))});
  const auto top = store_->top(kHot, 3);
  ASSERT_TRUE(top.ok());
  ASSERT_EQ(top->size(), 3u);
  EXPECT_EQ((*top)[0].number, 1);
  EXPECT_EQ((*top)[1].number, 0);
  EXPECT_EQ((*top)[2].number, 2);
  EXPECT_EQ(store_->top(kHot, 100)->size(), 4u);
  EXPECT_EQ(store_->top(kHot, 0)->size(), 0u);
}

TEST_F(RecordStoreTest, BestAndListWalkAnIndex) {
  auto* store = dynamic_cast<SqliteStore*>(store_.get());
  ASSERT_NE(store, nullptr);
  auto plan = store->database().prepare(
      "EXPLAIN QUERY PLAN SELECT * FROM records r WHERE r.task_target_id = 1 AND r.weights = 'hot'"
      " AND r.time_us IS NOT NULL AND r.verified >= 1 ORDER BY r.time_us");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::string text;
  while (plan->step().value()) text += plan->text(3) + "\n";
  EXPECT_NE(text.find("USING INDEX records_by_time"), std::string::npos) << text;
  EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << text;
}

TEST_F(RecordStoreTest, ListFilters) {
  Record named = sample_record(1, timing(2));
  named.task_key = "77";
  named.task_name = "conv1";
  named.session = 4;
  Record targeted = sample_record(2, timing(2));
  targeted.target = "vdla";
  add({sample_record(0, timing(1)), named, targeted});
  const auto numbers = [&](const RecordFilter& filter) {
    std::vector<std::int64_t> found;
    const auto listed = store_->list(filter);
    CHECK(listed.ok(), listed.error().message);
    for (const Record& r : *listed) found.push_back(r.number);
    return found;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers({}), (Numbers{2, 1, 0}));
  EXPECT_EQ(numbers({.task = kTask}), (Numbers{2, 0}));
  EXPECT_EQ(numbers({.task = "conv1"}), (Numbers{1}));
  EXPECT_EQ(numbers({.task = "77"}), (Numbers{1}));
  EXPECT_EQ(numbers({.task = "none"}), (Numbers{}));
  EXPECT_EQ(numbers({.target = "vdla"}), (Numbers{2}));
  EXPECT_EQ(numbers({.session = 4}), (Numbers{1}));
  EXPECT_EQ(numbers({.session = 0}), (Numbers{2, 0}));
  EXPECT_EQ(numbers({.limit = 2}), (Numbers{2, 1}));
  EXPECT_EQ(numbers({.limit = 0}), (Numbers{}));
  EXPECT_EQ(numbers({.limit = SIZE_MAX}), (Numbers{2, 1, 0}));
}

TEST_F(RecordStoreTest, VisitEndsWithTheVisitorsError) {
  add({sample_record(0, timing(1)), sample_record(1, timing(1))});
  int seen = 0;
  const Status status = store_->visit({}, [&](const Record&) -> Status {
    ++seen;
    return invalid("enough");
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(store_->add(std::vector{sample_record(2, timing(1))}).ok());
}

TEST_F(RecordStoreTest, TrialsAreDistinctCandidatesThatRan) {
  Record session_record = sample_record(7, timing(1));
  session_record.session = 3;
  add({sample_record(0, timing(1)), sample_record(0, timing(2)),
       sample_record(1, outcome::BuildFailed{}), sample_record(2, outcome::RunCrashed{}),
       sample_record(3, outcome::TimedOut{}), sample_record(4, outcome::WrongAnswer{}),
       sample_record(5, outcome::InfrastructureLost{}),
       sample_record(6, outcome::InfrastructureLost{}), sample_record(6, timing(5)),
       session_record});
  const TrialCount all = store_->count_trials(kTask, kTarget).value();
  EXPECT_EQ(all.trials, 6u);
  EXPECT_EQ(all.build_failed, 1u);
  EXPECT_EQ(all.lost, 1u);
  EXPECT_EQ(store_->count_trials(kTask, kTarget, 3)->trials, 1u);
  EXPECT_EQ(store_->count_trials(kTask, "vdla")->trials, 0u);
}

TEST_F(RecordStoreTest, KnownTracesLeaveOutWhatWasLost) {
  add({sample_record(0, timing(1)), sample_record(0, timing(2)),
       sample_record(1, outcome::BuildFailed{}), sample_record(2, outcome::InfrastructureLost{})});
  std::vector<std::uint64_t> expected{sample_record(0, timing(1)).trace_hash,
                                      sample_record(1, timing(1)).trace_hash};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(store_->known_traces(kTask, kTarget).value(), expected);
  EXPECT_TRUE(store_->known_traces("none", kTarget)->empty());
}

TEST_F(RecordStoreTest, ConfirmReplacesTheTiming) {
  const auto ids = add({sample_record(0, timing(1)), sample_record(1, timing(2))});
  const std::vector confirmations{Confirmation{ids[0], timing(4), {0.5, 0.25}, true}};
  ASSERT_TRUE(store_->confirm(confirmations).ok());
  EXPECT_EQ(store_->best(kHot).value()->number, 1);
  const Record second = store_->top(kHot, 2).value()[1];
  EXPECT_EQ(second.id, ids[0]);
  EXPECT_EQ(second.outcome, timing(4));
  EXPECT_EQ(second.noise.cv, 0.5);
  EXPECT_EQ(store_->count_trials(kTask, kTarget)->trials, 2u);
  // What was confirmed is another content: the old one counts as new, the new one as known.
  EXPECT_EQ(store_->add_new(std::vector{second}).value(), 0u);
  const std::vector unknown{confirmations[0], Confirmation{99, timing(1), {}, true}};
  const Status status = store_->confirm(unknown);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "record 99 is not in records file '" + directory_.file("records.db") + "'");
}

TEST_F(RecordStoreTest, AddNewSkipsWhatIsThere) {
  add({sample_record(0, timing(1))});
  const std::vector batch{sample_record(0, timing(1)), sample_record(1, timing(1)),
                          sample_record(1, timing(1)), sample_record(0, timing(2))};
  EXPECT_EQ(store_->add_new(batch).value(), 2u);
  EXPECT_EQ(store_->add_new(batch).value(), 0u);
  EXPECT_EQ(store_->list({})->size(), 3u);
}

TEST_F(RecordStoreTest, PruneKeepsTheFastest) {
  std::vector<Record> records;
  for (int i = 0; i < 20; ++i) records.push_back(sample_record(i, timing(100 - i)));
  for (int i = 0; i < 5; ++i) {
    records.push_back(sample_record(i, timing(300 + i)));
    records.back().weights = Weights::Cold;
  }
  records.push_back(sample_record(19, timing(90)));  // a slower copy of the fastest
  records.push_back(sample_record(30, outcome::TimedOut{}));
  records.push_back(sample_record(31, timing(1)));
  records.back().verified = false;
  add(records);
  EXPECT_EQ(store_->prune(3).value(), records.size() - 6);
  const auto top = store_->top(kHot, 10).value();
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].number, 19);
  EXPECT_EQ(top[2].number, 17);
  EXPECT_EQ(store_->top({kTask, kTarget, Weights::Cold}, 10)->size(), 3u);
  EXPECT_EQ(store_->prune(3).value(), 0u);
  EXPECT_EQ(store_->prune(0).value(), 6u);
}

TEST_F(RecordStoreTest, TheLogIsTakenOverIntoTheFile) {
  std::vector<Record> batch;
  for (int i = 0; i < 200; ++i) batch.push_back(sample_record(i, timing(1)));
  for (int i = 0; i < 30; ++i) {
    add(batch);
    ASSERT_TRUE(store_->add_new(batch).ok());
  }
  const auto size = [&](const char* suffix) {
    return std::filesystem::file_size(directory_.path() / (std::string("records.db") + suffix));
  };
  EXPECT_GT(size(""), 1000000u);
  EXPECT_LT(size("-wal"), 8000000u);
}

TEST_F(RecordStoreTest, SeveralThreadsAndConnectionsWrite) {
  auto second = open_sqlite_store(directory_.file("records.db"));
  ASSERT_TRUE(second.ok()) << second.error().message;
  Store* stores[] = {store_.get(), store_.get(), second->get()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(stores[t]->add(std::vector{sample_record(t * 100 + i, timing(1))}).ok());
        EXPECT_TRUE(stores[t]->best(kHot).value().has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->count_trials(kTask, kTarget)->trials, 60u);
}

}  // namespace
}  // namespace attune::records
