#include "tuner/session/session_fixture_testing.h"

namespace attune::session {
namespace {

TEST_F(SessionTest, FindsTheFastestAndReportsIt) {
  auto session = open({.trials = 60, .batch = 12});
  step(*session);
  const TaskReport report = session->report();
  EXPECT_EQ(report.trials, 60);
  EXPECT_EQ(report.trials_this_run, 60);
  ASSERT_TRUE(report.best_us);
  EXPECT_EQ(*report.best_us, world_.time_us(37) * 1.1);
  EXPECT_EQ(report.best_trace, schedule::to_string(fake_trace(37)));
  EXPECT_EQ(*report.default_us, world_.time_us(0) * 1.1);
  EXPECT_FALSE(report.best_is_default);
  EXPECT_FALSE(report.exhausted);
  EXPECT_GT(report.failures.at("build_failed"), 0);
  EXPECT_GT(report.failures.at("wrong_answer"), 0);
  EXPECT_EQ(report.failed, report.failures.at("build_failed") + report.failures.at("wrong_answer"));
  ASSERT_EQ(report.examples.size(), 2U) << "one of each kind";
  EXPECT_EQ(outcome::kind_of(report.examples[0].outcome), "build_failed");
  EXPECT_NE(outcome::describe(report.examples[0].outcome).find("unlucky number"),
            std::string::npos);
  EXPECT_FALSE(report.examples[0].trace.empty());
  EXPECT_EQ(outcome::kind_of(report.examples[1].outcome), "wrong_answer");
  EXPECT_DOUBLE_EQ(report.gflops, 1e6 / *report.best_us * 1e-3);

  // The winner is what the store calls best: quick looks below its time are withdrawn.
  const auto best = store_->best({.task_key = "00000000000000ab", .target = "cpu -threads=1"});
  ASSERT_TRUE(best.ok() && best->has_value());
  EXPECT_EQ((*best)->id, report.best_record);
}

TEST_F(SessionTest, FailuresTrainAsFailuresAndLossesNotAtAll) {
  world_.lost = {12};
  auto session = open({.trials = 90, .batch = 16}, 80);
  step(*session);
  bool lost_seen = false;
  std::int64_t failed = 0;
  for (const auto& [n, time_us] : search_->observed) {
    lost_seen |= n == 12;
    failed += !time_us.has_value();
    EXPECT_EQ(time_us.has_value(), !world_.build_fails(n) && n % 11 != 5) << n;
  }
  EXPECT_FALSE(lost_seen);
  EXPECT_GT(failed, 10);
  EXPECT_EQ(session->report().failures.at("infrastructure_lost"), 1);
}

TEST_F(SessionTest, EndsWhenTheSpaceIsExhausted) {
  auto session = open({.trials = 500, .batch = 16}, 40);
  step(*session);
  const TaskReport report = session->report();
  EXPECT_TRUE(report.exhausted);
  std::int64_t runnable = 0;
  for (std::int64_t n = 0; n < 40; ++n) runnable += !world_.build_fails(n);
  EXPECT_EQ(report.trials, runnable);
  EXPECT_TRUE(report.best_us);
}

TEST_F(SessionTest, EndsWhenTimeIsUp) {
  auto session = open({.trials = 100'000, .seconds = 0.2, .batch = 4}, 100'000);
  step(*session);
  EXPECT_LT(session->report().trials, 1000);
  EXPECT_FALSE(session->report().exhausted);
  EXPECT_TRUE(session->report().best_us);
}

TEST_F(SessionTest, TheDefaultStaysWhenEverythingFails) {
  world_.all_fail = true;
  auto session = open({.trials = 20, .batch = 8});
  step(*session);
  const TaskReport report = session->report();
  EXPECT_FALSE(report.best_us);
  EXPECT_FALSE(report.default_us);
  EXPECT_TRUE(report.best_is_default);
  EXPECT_EQ(report.best_trace, schedule::to_string(fake_trace(0)));
  EXPECT_EQ(report.default_failure, "crashed in run: fell over");
  EXPECT_EQ(report.trials, 20);
}

TEST_F(SessionTest, TheDefaultWinsWhenNothingIsFaster) {
  world_.fastest = 0;
  auto session = open({.trials = 20, .batch = 8});
  step(*session);
  EXPECT_TRUE(session->report().best_is_default);
  EXPECT_EQ(session->report().best_us, session->report().default_us);
}

TEST_F(SessionTest, TheDefaultStaysWhenAllOthersFail) {
  world_.others_fail = true;
  auto session = open({.trials = 200, .batch = 8});
  step(*session);
  const TaskReport report = session->report();
  EXPECT_EQ(report.timed, 1);
  EXPECT_TRUE(report.best_is_default);
  ASSERT_TRUE(report.default_us);
  EXPECT_EQ(report.best_us, report.default_us);
  EXPECT_EQ(report.default_failure, "");
  EXPECT_GT(report.failures.at("run_crashed"), 0);
  EXPECT_EQ(report.examples.front().trace.empty(), false);
  EXPECT_LT(report.trials, 60) << "a hopeless search ends early";
}

TEST_F(SessionTest, SaysWhatWasNotWorthBuilding) {
  auto session = open({.trials = 20, .batch = 8});
  EXPECT_TRUE(session->report().rejected.empty());
  step(*session);
  EXPECT_GE(session->report().rejected.at("even"), 19);
}

TEST_F(SessionTest, EveryOrderOfStagesLeadsToTheSameDecisions) {
  for (const int window : {1, 2, 4}) {
    fresh_store();
    auto plain = open({.trials = 50, .batch = 9, .window = window});
    step(*plain);
    const Decisions expected = decisions(*plain);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      fresh_store();
      auto shuffled = open({.trials = 50, .batch = 9, .window = window});
      Rng rng(seed);
      step(*shuffled, 1000, &rng);
      EXPECT_EQ(decisions(*shuffled), expected) << "window " << window << " seed " << seed;
    }
    fresh_store();
    auto driven = open({.trials = 50, .batch = 9, .window = window});
    EXPECT_TRUE(run_local(*driven).ok());
    EXPECT_EQ(decisions(*driven), expected) << "window " << window;
  }
}

TEST_F(SessionTest, WhatWasDisturbedIsMeasuredAnewAsOftenAsAllowed) {
  const Options options{.trials = 60, .batch = 12};
  const auto run = [&](int times, int noisy) {
    fresh_store();
    runner_.noisy = {{37, noisy}};  // the fastest
    auto session = open(options);
    session->repeat_disturbed(times);
    int disturbed = 0;
    while (!session->finished()) {
      const Stage stage = session->ready_stages().front();
      EXPECT_TRUE(session->run(stage).ok());
      disturbed += session->was_disturbed(stage) ? 1 : 0;
    }
    return std::pair(disturbed, decisions(*session));
  };
  const auto [none, quiet] = run(0, 0);
  EXPECT_EQ(none, 0);
  const auto [once, repeated] = run(2, 1);
  EXPECT_EQ(once, 1);
  EXPECT_EQ(repeated, quiet);
  const auto [kept, as_it_was] = run(0, 1);
  EXPECT_EQ(kept, 0);
  EXPECT_NE(as_it_was, quiet);
  EXPECT_EQ(run(2, 1000).first, 2) << "not for ever";
}

TEST_F(SessionTest, ANewSessionStartsFromWhatIsKnown) {
  auto session = open({.trials = 60, .batch = 12});
  step(*session);
  ASSERT_EQ(session->report().best_trace, schedule::to_string(fake_trace(37)));
  session = open({.trials = 6, .seed = 9, .batch = 6});
  step(*session);
  EXPECT_EQ(session->report().best_trace, schedule::to_string(fake_trace(37)));
  session = open({.trials = 6, .seed = 9, .use_history = false, .batch = 6});
  step(*session);
  EXPECT_NE(session->report().best_trace, schedule::to_string(fake_trace(37)));
}

TEST_F(SessionTest, HintsAreTriedFirstUnlessHistoryIsUnwanted) {
  records::Hint hint{.task_key = fake_task().key,
                     .task_name = fake_task().name,
                     .trace = schedule::to_string(fake_trace(37)),
                     .trace_hash = schedule::hash(fake_trace(37)),
                     .time_us = 5,
                     .foreign_target = "llvm",
                     .source = "autotvm test.log"};
  records::Hint unreadable = hint;
  unreadable.trace = "fold the paper";
  unreadable.trace_hash = 1;
  ASSERT_TRUE(store_->add_hints(std::vector{unreadable, hint}).ok());
  for (const bool use_history : {true, false}) {
    auto session =
        open({.trials = 12, .use_history = use_history, .hints = {fake_trace(41), fake_trace(37)}});
    step(*session);
    const auto stored = store_->load_session(session->id());
    ASSERT_TRUE(stored.ok());
    EXPECT_EQ(stored->candidates[0].trace_hash, schedule::hash(fake_trace(0)));
    EXPECT_EQ(stored->candidates[1].trace_hash == hint.trace_hash, use_history);
    EXPECT_EQ(stored->candidates[2].trace_hash == schedule::hash(fake_trace(41)), use_history);
    fresh_store();
    ASSERT_TRUE(store_->add_hints(std::vector{unreadable, hint}).ok());
  }
}

TEST_F(SessionTest, ProgressIsObserved) {
  struct Watching : Observer {
    void progressed(const Progress& progress) override { seen.push_back(progress); }
    std::vector<Progress> seen;
  } watching;
  auto session = open({.trials = 30, .batch = 8});
  EXPECT_TRUE(run_local(*session, &watching).ok());
  ASSERT_FALSE(watching.seen.empty());
  EXPECT_EQ(watching.seen.front().stage, "init");
  EXPECT_EQ(watching.seen.back().stage, "confirm");
  EXPECT_EQ(watching.seen.back().trials, 30);
  EXPECT_EQ(watching.seen.back().trials_total, 30);
  EXPECT_EQ(watching.seen.back().eta_seconds, 0);
  EXPECT_EQ(watching.seen.back().task, "copy:m=4");
}

TEST_F(SessionTest, RefusesABudgetOfNothing) {
  auto session = Session::open({*store_, builder_, runner_, clock_}, fake_task(), "cpu",
                               std::make_unique<FakeSearch>(1, 10), fake_trace(0), {.trials = 0});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message, "0 trials in batches of 24 make no session");
}

}  // namespace
}  // namespace attune::session
