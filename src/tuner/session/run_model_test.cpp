#include "tuner/session/run_model.h"

#include "tuner/session/sessions_testing.h"

namespace attune::session {
namespace {

class RunModelTest : public SessionsTest {
 protected:
  Machine machine_;
};

TEST_F(RunModelTest, FinishesAllAndFindsTheBestOfEach) {
  Session& large = open("00000000000000a1", 90);
  Session& small = open("00000000000000a2", 12);
  std::size_t told = 0, failed = 0;
  const auto status = run_model(
      {{&large, {.uses = 1}}, {&small, {.uses = 3}}},
      {.seconds = 1e6, .closing_seconds = 0.1, .allotment = {.patience = 100}}, machine_, clock_,
      [&](const ModelProgress& progress) {
        ++told;
        ASSERT_EQ(progress.tasks.size(), 2U);
        EXPECT_EQ(progress.trials, progress.tasks[0].trials + progress.tasks[1].trials);
        EXPECT_LE(progress.tasks[0].share + progress.tasks[1].share, 2);
        EXPECT_GT(progress.stage_seconds, 0);
        failed += progress.failed.size();
      },
      stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(large.finished());
  EXPECT_TRUE(small.finished());
  EXPECT_TRUE(large.report().exhausted);
  EXPECT_EQ(large.report().best_trace, schedule::to_string(fake_trace(37)));
  EXPECT_GT(told, 4U);
  EXPECT_EQ(failed, static_cast<std::size_t>(large.report().failed + small.report().failed))
      << "each failure is told once";
}

TEST_F(RunModelTest, DefaultsStayWhereAllOthersFail) {
  world_.others_fail = true;
  Session& one = open("00000000000000a1", 90);
  Session& other = open("00000000000000a2", 12);
  const auto status =
      run_model({{&one, {.uses = 1}}, {&other, {.uses = 3}}},
                {.seconds = 1e6, .closing_seconds = 0.1}, machine_, clock_, {}, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (const Session* session : {&one, &other}) {
    const TaskReport report = session->report();
    EXPECT_TRUE(report.best_is_default);
    EXPECT_EQ(report.timed, 1);
    EXPECT_EQ(report.best_us, report.default_us);
    EXPECT_GT(report.failures.at("run_crashed"), 0);
  }
}

// Says when building and running meet.
class Watch {
 public:
  explicit Watch(std::atomic<int>& mine, const std::atomic<int>& other, std::atomic<int>& met)
      : mine_(mine) {
    ++mine_;
    if (other > 0) ++met;
  }
  ~Watch() { --mine_; }

 private:
  std::atomic<int>& mine_;
};

struct Watched {
  std::atomic<int> building = 0, running = 0, met = 0;
};

class WatchedBuilder final : public measure::Builder {
 public:
  WatchedBuilder(measure::Builder& inner, Watched& watched) : inner_(inner), watched_(watched) {}
  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override {
    const Watch watch(watched_.building, watched_.running, watched_.met);
    return inner_.build(requests);
  }
  Result<measure::Expectation> expect(const ir::Program& program, std::uint64_t seed) override {
    const Watch watch(watched_.building, watched_.running, watched_.met);
    return inner_.expect(program, seed);
  }

 private:
  measure::Builder& inner_;
  Watched& watched_;
};

class WatchedRunner final : public measure::Runner {
 public:
  WatchedRunner(measure::Runner& inner, Watched& watched) : inner_(inner), watched_(watched) {}
  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override {
    const Watch watch(watched_.running, watched_.building, watched_.met);
    EXPECT_EQ(watched_.running, 1) << "one device, one stage";
    return inner_.measure(requests, expectation, options);
  }
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override {
    const Watch watch(watched_.running, watched_.building, watched_.met);
    return inner_.compare(requests, expectation, options);
  }
  std::string device() const override { return inner_.device(); }
  double busy_seconds() const override { return inner_.busy_seconds(); }

 private:
  measure::Runner& inner_;
  Watched& watched_;
};

TEST_F(RunModelTest, OnSharedCoresBuildingAndRunningTakeTurns) {
  Watched watched;
  WatchedBuilder builder(builder_, watched);
  WatchedRunner runner(runner_, watched);
  std::vector<WeightedSession> weighted;
  for (const char* key : {"00000000000000c1", "00000000000000c2", "00000000000000c3"}) {
    weighted.push_back({&open(key, 60, true, &builder, &runner)});
  }
  const auto status = run_model(weighted, {.seconds = 1e6, .window = 4},
                                {.host_stages = 2, .shared = true}, clock_, {}, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (const WeightedSession& each : weighted) EXPECT_TRUE(each.session->finished());
  EXPECT_EQ(watched.met, 0);
}

TEST_F(RunModelTest, TheNextBatchBeginsWhenTheLastHasEnded) {
  std::vector<WeightedSession> weighted;
  for (const char* key : {"00000000000000d1", "00000000000000d2", "00000000000000d3"}) {
    weighted.push_back({&open(key, 90)});
  }
  int selected = 0, updated = 0, ahead = 0;
  const auto status = run_model(
      weighted, {.seconds = 1e6, .window = 3, .batch = 3}, machine_, clock_,
      [&](const ModelProgress& progress) {
        if (progress.stage.kind == StageKind::Select && !progress.closing) ++selected;
        if (progress.stage.kind == StageKind::Update) ++updated;
        ahead = std::max(ahead, (selected + 2) / 3 * 3 - updated);
        EXPECT_TRUE(progress.closing || selected <= updated / 3 * 3 + 3)
            << selected << " were selected when " << updated << " had ended";
      },
      stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(ahead, 3) << "three begin together";
}

// With several rounds at once winners are named in gaps, and when there are any is a matter of
// time.
TEST_F(RunModelTest, NamesTheWinnerOfATaskAsSoonAsNothingIsLeftOfIt) {
  Session& large = open("00000000000000b1", 400);
  Session& small = open("00000000000000e1", 8);
  bool early = false;
  const auto status = run_model(
      {{&large, {.uses = 1}}, {&small, {.uses = 3}}},
      {.seconds = 1e6, .window = 1, .allotment = {.patience = 100}}, machine_, clock_,
      [&](const ModelProgress& progress) {
        early = early || (small.finished() && !large.finished() && !progress.closing);
      },
      stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(early) << "while the other task had rounds to come";
}

TEST_F(RunModelTest, StopsWhenTheGoalIsReached) {
  Session& only = open("00000000000000c4", 100'000);
  const auto status = run_model({{&only}},
                                {.seconds = 1e6,
                                 .goal = Goal{.before_us = 500, .until_us = 499.9},
                                 .allotment = {.patience = 1'000'000}},
                                machine_, clock_, {}, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(only.finished());
  EXPECT_LT(only.report().trials, 60) << "few rounds were enough";
}

// Inside a model the gains of tasks may be smaller than by themselves: the whole is measured, and
// found to be slower than predicted.
TEST_F(RunModelTest, GoesOnTowardsAGoalThatWasMissed) {
  Session& only = open("00000000000000c5", 400);
  bool reached = false;
  ModelBudget budget{.seconds = 1e6,
                     .goal = Goal{.before_us = 500, .until_us = 499, .reached = &reached},
                     .allotment = {.patience = 1'000'000}};
  ASSERT_TRUE(run_model({{&only}}, budget, machine_, clock_, {}, stop_).ok());
  ASSERT_TRUE(only.finished());
  EXPECT_TRUE(reached);
  const std::int64_t before = only.report().trials;
  ASSERT_LT(before, 200);

  only.go_on();
  EXPECT_TRUE(only.finished()) << "until there is a round for it";
  reached = false;
  budget.goal->until_us = 1;  // out of reach: all is tried
  ASSERT_TRUE(run_model({{&only}}, budget, machine_, clock_, {}, stop_).ok());
  EXPECT_FALSE(reached);
  EXPECT_TRUE(only.finished());
  EXPECT_GT(only.report().trials, before);
  EXPECT_TRUE(only.report().exhausted);
  EXPECT_EQ(only.report().best_trace, schedule::to_string(fake_trace(37)));
}

TEST_F(RunModelTest, GainsOfAnEarlierRunAreNoGainsOfThisOne) {
  const std::string key = "00000000000000c6";
  bool reached = false;
  const ModelBudget budget{.seconds = 1e6,
                           .goal = Goal{.before_us = 500, .until_us = 499, .reached = &reached},
                           .allotment = {.patience = 1'000'000}};
  Session& first = open(key, 400);
  ASSERT_TRUE(run_model({{&first}}, budget, machine_, clock_, {}, stop_).ok());
  const std::int64_t before = first.report().trials;
  reached = false;
  Session& resumed = open(key, 400, true, nullptr, nullptr, true);
  ASSERT_EQ(resumed.report().trials, before);
  ASSERT_TRUE(run_model({{&resumed}}, budget, machine_, clock_, {}, stop_).ok());
  EXPECT_GT(resumed.report().trials, before) << "rounds of its own";
}

TEST_F(RunModelTest, LeavesTasksAloneThatGainNothing) {
  Session& only = open("00000000000000a3", 100'000);
  const auto status = run_model({{&only}}, {.seconds = 1e6, .allotment = {.patience = 2}}, machine_,
                                clock_, {}, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(only.finished());
  EXPECT_LT(only.report().trials, 1000);
}

TEST_F(RunModelTest, KeepsToTheTime) {
  Session& only = open("00000000000000a4", 100'000);
  clock_.now = 0;
  const auto status = run_model(
      {{&only}}, {.seconds = 0.5, .closing_seconds = 0.1, .allotment = {.patience = 1'000'000}},
      machine_, clock_, {}, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(only.finished());
  EXPECT_GT(only.report().trials, 0);
}

}  // namespace
}  // namespace attune::session
