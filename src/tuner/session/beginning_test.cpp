#include <gtest/gtest.h>

#include "tuner/session/session.h"
#include "tuner/session/sessions_testing.h"

namespace attune::session {
namespace {

constexpr const char* kTarget = "cpu -threads=1";

// What a session begins with, from what the store and its options know.
class BeginningTest : public SessionsTest {
 protected:
  // Records with the times of the world.
  void record(const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t n : numbers) {
      records::Record record;
      record.task_key = task_.key;
      record.target = kTarget;
      record.trace = schedule::to_string(fake_trace(n));
      record.trace_hash = schedule::hash(fake_trace(n));
      record.outcome = world_.outcome(n);
      record.verified = true;
      ASSERT_TRUE(store_->add(std::vector{record}).ok());
    }
  }
  void hint(const std::vector<std::int64_t>& numbers, const std::string& source) {
    for (const std::int64_t n : numbers) {
      const records::Hint hint{.task_key = task_.key,
                               .task_name = task_.name,
                               .trace = schedule::to_string(fake_trace(n)),
                               .trace_hash = schedule::hash(fake_trace(n)),
                               .time_us = static_cast<double>(n),
                               .foreign_target = source,
                               .source = source};
      ASSERT_TRUE(store_->add_hints(std::vector{hint}).ok());
    }
  }

  // One whose search proposes 1 to 9.
  Session& open_with(Options options) {
    auto session = Session::open({*store_, builder_, runner_, clock_}, task_, kTarget,
                                 std::make_unique<FakeSearch>(7, 10), fake_trace(0), options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    sessions_.push_back(std::move(*session));
    return *sessions_.back();
  }
  static void step(Session& session, int stages = 1000) {
    while (!session.finished() && stages-- > 0) {
      EXPECT_TRUE(session.run(session.ready_stages().front()).ok());
    }
  }
  // The numbers that the first round chose, in order.
  std::vector<std::int64_t> first_round(const Session& session) {
    const records::Session stored = store_->load_session(session.id()).value();
    std::vector<std::int64_t> numbers;
    for (const auto& each : stored.candidates) {
      if (each.round > 0) break;
      numbers.push_back(number_in(schedule::parse_trace(each.trace).value()));
    }
    EXPECT_EQ(stored.rounds.at(0).asked, static_cast<std::int64_t>(numbers.size()));
    return numbers;
  }

  Task task_ = fake_task();
};

TEST_F(BeginningTest, NothingThatIsKnownToBeGoodIsLeftOut) {
  record({36, 39, 37, 40, 44});
  hint({51, 52, 53, 54, 55}, "autotvm some.log");
  hint({61, 62}, "shipped");
  const Options options{.trials = 60, .batch = 16, .hints = {fake_trace(71), fake_trace(72)}};
  const std::vector<std::int64_t> expected = {0, 37, 36, 39, 40, 51, 61, 52, 62, 53, 54, 71, 72};
  Session& session = open_with(options);
  step(session);
  EXPECT_EQ(first_round(session), expected);

  // The same when it is killed before the first round is chosen, or right after that.
  for (const int stages : {1, 2}) {
    Options other = options;
    other.seed = static_cast<std::uint64_t>(stages);
    TearDown();
    SetUp();
    record({36, 39, 37, 40, 44});
    hint({51, 52, 53, 54, 55}, "autotvm some.log");
    hint({61, 62}, "shipped");
    step(open_with(other), stages);
    other.resume = true;
    Session& resumed = open_with(other);
    step(resumed);
    EXPECT_TRUE(resumed.report().resumed);
    EXPECT_EQ(first_round(resumed), expected) << stages;
  }
}

TEST_F(BeginningTest, TheBudgetAndARepetitionLimitIt) {
  record({36, 39, 37, 40});
  hint({51, 52, 53, 54}, "autotvm some.log");
  Session& small = open_with({.trials = 5, .batch = 16});
  step(small);
  EXPECT_EQ(first_round(small), (std::vector<std::int64_t>{0, 37, 36, 39, 40}));
  Session& repeated = open_with({.trials = 60, .batch = 16, .round_sizes = {7}});
  step(repeated);
  EXPECT_EQ(first_round(repeated).size(), 7U);
}

TEST_F(BeginningTest, WithoutHistoryTheFirstRoundIsSmall) {
  record({36, 39, 37, 40});
  hint({51, 52, 53, 54}, "autotvm some.log");
  Session& session = open_with({.trials = 60, .use_history = false, .batch = 16});
  step(session);
  EXPECT_EQ(first_round(session).size(), 6U);
}

// A session that may use one algorithm alone must not be won by another.
TEST_F(BeginningTest, AlgorithmsThatDoNotCompeteAreNotTried) {
  record({37});
  hint({51}, "autotvm some.log");
  for (const bool competes : {true, false}) {
    task_.algorithms.front().competes = competes;
    Session& session = open_with({.trials = 60, .seed = competes ? 1U : 2U, .batch = 16});
    step(session);
    const std::vector<std::int64_t> numbers = first_round(session);
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 37), competes ? 1 : 0);
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 51), competes ? 1 : 0);
  }
}

TEST_F(BeginningTest, ASeedGoesOnWithItsOwnSession) {
  step(open_with({.trials = 6, .seed = 5, .batch = 6}));
  Session& other = open_with({.trials = 6, .seed = 6, .resume = true, .batch = 6});
  EXPECT_FALSE(other.report().resumed);
  step(other);
  EXPECT_EQ(other.report().seed, 6U);
  EXPECT_EQ(newest_seed(*store_, task_.key, kTarget, {.batch = 6}).value(), 6U);
  EXPECT_FALSE(newest_seed(*store_, task_.key, kTarget, {.batch = 7})->has_value());
  Session& again = open_with({.trials = 9, .seed = 5, .resume = true, .batch = 6});
  EXPECT_TRUE(again.report().resumed);
  EXPECT_EQ(again.id(), sessions_.front()->id());
  EXPECT_EQ(again.report().seed, 5U);
}

}  // namespace
}  // namespace attune::session
