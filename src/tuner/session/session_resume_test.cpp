// Sessions that end early or are killed, and go on later.
#include "tuner/session/session_fixture_testing.h"

namespace attune::session {
namespace {

class ResumedSessionTest : public SessionTest {};

TEST_F(ResumedSessionTest, ALostDeviceEndsTheRunAndTheSessionCanBeResumed) {
  for (std::int64_t n = 0; n < 100; ++n) world_.lost.insert(n);
  auto session = open({.trials = 20, .batch = 6});
  const Status status = run_local(*session);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "the last 6 candidates were lost: infrastructure lost in run: unplugged");
  EXPECT_EQ(session->report().trials, 0);
  world_.lost.clear();
  session = open({.trials = 20, .resume = true, .batch = 6});
  EXPECT_TRUE(run_local(*session).ok());
  EXPECT_TRUE(session->report().resumed);
  EXPECT_EQ(session->report().trials, 20);
}

TEST_F(ResumedSessionTest, ALossInABatchOfOneIsRecordedAndTheRunGoesOn) {
  world_.lost = {2, 9};
  auto session = open({.trials = 20, .batch = 1}, 30);
  const Status status = run_local(*session);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const TaskReport report = session->report();
  EXPECT_EQ(report.failures.at("infrastructure_lost"), 2);
  EXPECT_EQ(report.trials, 20) << "they are no trials";
  EXPECT_TRUE(report.best_us);
}

TEST_F(ResumedSessionTest, SeveralLossesInARowEndTheRunInBatchesOfOneToo) {
  for (std::int64_t n = 1; n < 30; ++n) world_.lost.insert(n);
  auto session = open({.trials = 20, .batch = 1}, 30);
  const Status status = run_local(*session);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "the last 3 candidates were lost: infrastructure lost in run: unplugged");
  EXPECT_EQ(session->report().trials, 1) << "the default ran before";
}

TEST_F(ResumedSessionTest, KilledAfterAnyStageItGoesOnToTheSameDecisions) {
  for (const int window : {1, 2, 4}) {
    fresh_store();
    const Options options{.trials = 40, .batch = 12, .window = window};
    auto whole = open(options);
    const int stages = step(*whole);
    const Decisions expected = decisions(*whole);
    for (int killed_after = 0; killed_after < stages; ++killed_after) {
      fresh_store();
      auto session = open(options);
      step(*session, killed_after);
      session.reset();
      reopen_store();
      Options again = options;
      again.resume = true;
      session = open(again);
      step(*session);
      EXPECT_EQ(decisions(*session), expected)
          << "window " << window << ", killed after " << killed_after << " stages";
    }
  }
}

TEST_F(ResumedSessionTest, FinalistsAreBuiltAgainOnlyByAnotherProcess) {
  const auto closing = [](const Session& session) {
    const std::vector<Stage> ready = session.ready_stages();
    return ready.size() == 1 && ready[0].round == kClosing ? name_of(ready[0].kind) : "";
  };
  auto session = open({.trials = 20, .batch = 8});
  while (closing(*session).empty()) step(*session, 1);
  EXPECT_EQ(closing(*session), "confirm");
  session = open({.trials = 20, .resume = true, .batch = 8});
  while (closing(*session).empty()) step(*session, 1);
  EXPECT_EQ(closing(*session), "build");
  step(*session, 1);
  EXPECT_EQ(closing(*session), "confirm");
}

TEST_F(ResumedSessionTest, ALargerBudgetContinuesAFinishedSession) {
  auto session = open({.trials = 20, .batch = 8});
  step(*session);
  const records::SessionId id = session->id();
  session = open({.trials = 50, .resume = true, .batch = 8});
  EXPECT_EQ(session->id(), id);
  step(*session);
  EXPECT_EQ(session->report().trials, 50);
  EXPECT_EQ(session->report().trials_this_run, 30);
  const int runs = runner_.runs;
  session = open({.trials = 50, .resume = true, .batch = 8});
  step(*session);
  EXPECT_EQ(session->report().trials_this_run, 0);
  EXPECT_LE(runner_.runs - runs, 9) << "only the closing comparison is repeated";
}

TEST_F(ResumedSessionTest, StopLeavesTheSessionToBeResumed) {
  auto session = open({.trials = 40, .batch = 8});
  std::atomic<bool> stop = true;
  EXPECT_TRUE(run_local(*session, nullptr, &stop).ok());
  EXPECT_FALSE(session->finished());
}

}  // namespace
}  // namespace attune::session
