#include <gtest/gtest.h>

#include <vector>

#include "tuner/records/sample_records_testing.h"

namespace attune::records {
namespace {

class SessionStoreTest : public testing::Test {
 protected:
  void SetUp() override { reopen(); }
  void reopen() {
    store_.reset();
    auto opened = open_sqlite_store(path());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(opened).value();
  }
  std::string path() const { return directory_.file("records.db"); }
  // The text of the error, or "ok".
  static std::string text(const Status& status) {
    return status.ok() ? "ok" : status.error().message;
  }
  SessionId create() { return store_->create_session(sample_spec()).value(); }
  Status select(SessionId session, std::int64_t round, std::int64_t first, std::int64_t count) {
    std::vector<SessionCandidate> candidates;
    for (std::int64_t i = 0; i < count; ++i) candidates.push_back(sample_candidate(first + i));
    return store_->append_selected(session, round, candidates, "selected " + std::to_string(round));
  }
  Result<std::vector<RecordId>> profile(SessionId session,
                                        const std::vector<std::int64_t>& numbers) {
    std::vector<Record> records;
    for (std::int64_t n : numbers) {
      records.push_back(sample_record(n, timing(100 - n)));
      records.back().number = n;
    }
    return store_->mark_profiled(session, records);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(SessionStoreTest, WholeLifeSurvivesReopening) {
  const SessionId id = create();
  ASSERT_EQ(text(select(id, 0, 0, 3)), "ok");
  reopen();
  Session session = store_->load_session(id).value();
  EXPECT_EQ(session.id, id);
  EXPECT_EQ(session.spec.task_key, kTask);
  EXPECT_EQ(session.spec.target, kTarget);
  EXPECT_EQ(session.spec.options, R"({"trials":128})");
  EXPECT_EQ(session.spec.options_key, "sa");
  EXPECT_EQ(session.spec.seed, 7u);
  EXPECT_FALSE(session.finished);
  EXPECT_EQ(session.changes, std::vector<std::string>{"selected 0"});
  ASSERT_EQ(session.rounds.size(), 1u);
  EXPECT_FALSE(session.rounds[0].finished);
  ASSERT_EQ(session.candidates.size(), 3u);
  EXPECT_EQ(session.candidates[2].trace, sample_candidate(2).trace);
  EXPECT_EQ(session.candidates[2].trace_hash, sample_candidate(2).trace_hash);
  EXPECT_EQ(session.candidates[2].predicted_us, 12);
  EXPECT_EQ(session.candidates[2].status, CandidateStatus::Selected);

  ASSERT_EQ(text(store_->mark_built(id, std::vector<std::int64_t>{0, 1, 2})), "ok");
  const std::vector<RecordId> first = profile(id, {1}).value();
  reopen();
  session = store_->load_session(id).value();
  EXPECT_EQ(session.candidates[0].status, CandidateStatus::Built);
  EXPECT_EQ(session.candidates[1].status, CandidateStatus::Profiled);
  EXPECT_FALSE(session.candidates[0].record.has_value());
  ASSERT_TRUE(session.candidates[1].record.has_value());
  EXPECT_EQ(session.candidates[1].record->id, first[0]);
  EXPECT_EQ(session.candidates[1].record->session, id);
  EXPECT_EQ(session.candidates[1].record->outcome, timing(99));

  EXPECT_EQ(text(store_->finish_round(id, 0, "early")),
            "round 0 of session 1 cannot finish: 2 of its candidates have no result");
  ASSERT_TRUE(profile(id, {0, 2}).ok());
  const std::string state("after\0round", 11);
  ASSERT_EQ(text(store_->finish_round(id, 0, state)), "ok");
  ASSERT_EQ(text(store_->finish_session(id)), "ok");
  reopen();
  session = store_->load_session(id).value();
  EXPECT_TRUE(session.finished);
  EXPECT_TRUE(session.rounds[0].finished);
  EXPECT_EQ(session.changes, (std::vector<std::string>{"selected 0", state}));
  EXPECT_EQ(store_->count_trials(kTask, kTarget, id)->trials, 3u);
}

TEST_F(SessionStoreTest, ResumeFindsTheNewestWithTheSameKeys) {
  EXPECT_FALSE(store_->find_resumable_session(kTask, kTarget, "sa")->has_value());
  create();
  const SessionId newest = create();
  SessionSpec other = sample_spec();
  other.options_key = "random";
  const SessionId random = store_->create_session(other).value();
  EXPECT_EQ(store_->find_resumable_session(kTask, kTarget, "sa").value(), newest);
  EXPECT_EQ(store_->find_resumable_session(kTask, kTarget, "random").value(), random);
  EXPECT_FALSE(store_->find_resumable_session(kTask, "vdla", "sa")->has_value());
  SessionSpec seeded = sample_spec();
  seeded.seed = sample_spec().seed + 1;
  seeded.options_key = "random";
  const SessionId latest = store_->create_session(seeded).value();
  EXPECT_EQ(store_->find_resumable_session(kTask, kTarget, "random").value(), latest);
  EXPECT_EQ(store_->find_resumable_session(kTask, kTarget, "random", other.seed).value(), random);
  EXPECT_FALSE(store_->find_resumable_session(kTask, kTarget, "random", 999)->has_value());
  EXPECT_EQ(store_->session_spec(latest)->seed, seeded.seed);
  EXPECT_FALSE(store_->session_spec(latest + 1).ok());
  // A larger budget goes on with a finished session and opens it again.
  ASSERT_EQ(text(store_->finish_session(newest)), "ok");
  EXPECT_EQ(store_->find_resumable_session(kTask, kTarget, "sa").value(), newest);
  ASSERT_EQ(text(select(newest, 0, 0, 1)), "ok");
  EXPECT_FALSE(store_->load_session(newest)->finished);
}

TEST_F(SessionStoreTest, UnknownSession) {
  const std::string expected = "session 9 is not in records file '" + path() + "'";
  EXPECT_EQ(text(select(9, 0, 0, 1)), expected);
  EXPECT_EQ(text(store_->mark_built(9, {})), expected);
  EXPECT_EQ(text(store_->finish_round(9, 0, "")), expected);
  EXPECT_EQ(text(store_->finish_session(9)), expected);
  EXPECT_EQ(profile(9, {0}).error().message, expected);
  EXPECT_EQ(store_->load_session(9).error().message, expected);
  EXPECT_EQ(store_->load_session(9).error().hint, "start without --resume");
}

// Two processes that continue one session must not mix their steps.
TEST_F(SessionStoreTest, StepsThatWereTakenElsewhereAreRefusedWhole) {
  const SessionId id = create();
  ASSERT_EQ(text(select(id, 0, 0, 2)), "ok");
  const std::string prefix = "session 1 was continued by another process: ";
  EXPECT_EQ(text(select(id, 0, 5, 2)), prefix + "round 0 is there already");
  EXPECT_EQ(text(select(id, 1, 1, 2)), prefix + "candidate 1 is there already");
  ASSERT_TRUE(profile(id, {1}).ok());
  EXPECT_EQ(profile(id, {0, 1}).error().message, prefix + "candidate 1 awaits no result");
  EXPECT_EQ(profile(id, {7}).error().message, prefix + "candidate 7 awaits no result");
  EXPECT_EQ(text(store_->mark_built(id, std::vector<std::int64_t>{0, 1})),
            prefix + "candidate 1 awaits no build");
  EXPECT_EQ(text(store_->finish_round(id, 4, "")), prefix + "round 4 is not open");
  EXPECT_EQ(store_->mark_built(id, std::vector<std::int64_t>{1}).error().hint,
            "wait for that process to end, then use --resume");

  const Session session = store_->load_session(id).value();
  EXPECT_EQ(session.changes, std::vector<std::string>{"selected 0"});
  EXPECT_EQ(session.rounds.size(), 1u);
  ASSERT_EQ(session.candidates.size(), 2u);
  EXPECT_EQ(session.candidates[0].status, CandidateStatus::Selected);
  EXPECT_EQ(store_->list({})->size(), 1u);
}

TEST_F(SessionStoreTest, PruneLeavesUnfinishedSessionsAlone) {
  const SessionId given_up = create();
  ASSERT_EQ(text(select(given_up, 0, 0, 4)), "ok");
  ASSERT_TRUE(profile(given_up, {0, 1, 2, 3}).ok());
  const SessionId open = create();
  ASSERT_EQ(text(select(open, 0, 10, 4)), "ok");
  ASSERT_TRUE(profile(open, {10, 11, 12}).ok());
  EXPECT_EQ(store_->prune(1).value(), 4u);
  const Session session = store_->load_session(open).value();
  EXPECT_EQ(session.candidates.size(), 4u);
  EXPECT_TRUE(session.candidates[0].record.has_value());
  EXPECT_FALSE(store_->load_session(given_up).ok());
  EXPECT_EQ(store_->list({})->size(), 3u);

  ASSERT_TRUE(profile(open, {13}).ok());
  ASSERT_EQ(text(store_->finish_round(open, 0, "")), "ok");
  ASSERT_EQ(text(store_->finish_session(open)), "ok");
  EXPECT_EQ(store_->prune(1).value(), 3u);
  EXPECT_FALSE(store_->find_resumable_session(kTask, kTarget, "sa")->has_value());
  EXPECT_EQ(store_->best({kTask, kTarget}).value()->number, 13);
}

}  // namespace
}  // namespace attune::records
