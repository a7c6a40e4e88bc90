#include "tuner/session/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/rng.h"
#include "tuner/session/fakes_testing.h"
#include "tuner/session/model_agenda.h"
#include "tuner/session/run_local.h"
#include "tuner/session/run_model.h"

namespace attune::session {
namespace {

// Sessions of a fake world, each in a store of its own, and their repetitions.
class RecordingTest : public testing::Test {
 protected:
  static std::unique_ptr<records::Store> store(const std::string& name) {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    const std::string path =
        base + "/attune_recording_test." + std::to_string(getpid()) + "." + name + ".db";
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    auto opened = records::open_sqlite_store(path);
    EXPECT_TRUE(opened.ok());
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    return std::move(*opened);
  }

  std::unique_ptr<Session> open(Context context, Options options, const std::string& key,
                                std::int64_t size = 100) {
    Task task = fake_task();
    task.key = key;
    options.search_name = "fake";
    auto session =
        Session::open(context, task, "cpu -threads=1",
                      std::make_unique<FakeSearch>(options.seed + 1, size), fake_trace(0), options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    return std::move(*session);
  }

  // All that a session chose and what became of it, as text.
  static std::string decisions(records::Store& store, const Session& session) {
    const auto stored = store.load_session(session.id());
    EXPECT_TRUE(stored.ok());
    std::string text;
    for (const records::SessionCandidate& each : stored->candidates) {
      text += std::to_string(each.number) + " round " + std::to_string(each.round) + " " +
              std::to_string(each.predicted_us) + "\n" + each.trace +
              outcome::describe(each.record->outcome) + "\n";
    }
    return text + "best:\n" + session.report().best_trace;
  }

  FakeWorld world_;
  FakeBuilder builder_{world_};
  FakeRunner runner_{world_};
  FakeClock clock_;
  std::atomic<bool> stop_{false};
};

constexpr const char* kKey = "00000000000000ab";

TEST_F(RecordingTest, ARepeatedSessionDecidesAsItDidThen) {
  for (const int window : {1, 2, 4}) {
    for (const std::int64_t size : {100, 40}) {  // the second is exhausted
      const Options options{.trials = 60, .seed = 3, .batch = 9, .window = window};
      const auto then = store("then");
      const auto session = open({*then, builder_, runner_, clock_}, options, kKey, size);
      ASSERT_TRUE(run_local(*session).ok());

      Recording recording(std::move(*then->load_session(session->id())));
      const auto now = store("now");
      Options again = options;
      again.round_sizes = recording.round_sizes();
      const auto repeated =
          open({*now, recording.builder(), recording.runner(), clock_}, again, kKey, size);
      const int runs = runner_.runs;
      ASSERT_TRUE(run_local(*repeated).ok());
      EXPECT_EQ(decisions(*now, *repeated), decisions(*then, *session)) << window << size;
      EXPECT_EQ(recording.difference(), std::nullopt);
      EXPECT_EQ(runner_.runs, runs) << "nothing was run";
    }
  }
}

TEST_F(RecordingTest, WhatIsChosenOtherwiseIsNamed) {
  const Options options{.trials = 30, .seed = 3, .batch = 9};
  const auto then = store("then");
  const auto session = open({*then, builder_, runner_, clock_}, options, kKey);
  ASSERT_TRUE(run_local(*session).ok());
  Recording recording(std::move(*then->load_session(session->id())));
  const auto now = store("now");
  Options other = options;
  other.seed = 4;
  other.round_sizes = recording.round_sizes();
  const auto repeated = open({*now, recording.builder(), recording.runner(), clock_}, other, kKey);
  ASSERT_TRUE(run_local(*repeated).ok());
  ASSERT_TRUE(recording.difference());
  EXPECT_EQ(recording.difference()->substr(0, 37), "candidate 1 was 'annotate anchor * ch")
      << *recording.difference();
}

// Runs what an agenda wants, one after the other, in an order of its own.
void run_in_any_order(const std::vector<Session*>& sessions, Agenda& agenda, Rng& rng) {
  std::vector<Job> running;
  for (;;) {
    for (const Job& job : agenda.ready()) {
      if (rng.below(3) == 0 && !running.empty()) continue;
      sessions[job.session]->begin(job.stage);
      running.push_back(job);
    }
    if (running.empty()) return;
    const std::size_t chosen = rng.below(running.size());
    const Job job = running[chosen];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(chosen));
    ASSERT_TRUE(sessions[job.session]->perform(job.stage).ok());
    agenda.ended(job, 0.001);
  }
}

TEST_F(RecordingTest, ModelsDecideTheSameInWhateverOrderResultsArrive) {
  const std::vector<std::string> keys = {"00000000000000a1", "00000000000000a2",
                                         "00000000000000a3"};
  const ModelBudget budget{.seconds = 1e6, .window = 3, .allotment = {.patience = 2}};
  std::vector<std::string> expected;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto now = store("model");
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<Session*> driven;
    std::vector<WeightedSession> weighted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Options options{.trials = 1000, .seed = i, .batch = 6};
      options.on_grant = true;
      sessions.push_back(open({*now, builder_, runner_, clock_}, options, keys[i],
                              60 + 200 * static_cast<std::int64_t>(i)));
      driven.push_back(sessions.back().get());
      weighted.push_back({driven.back(), {.uses = 1.0 + static_cast<double>(i)}});
    }
    if (seed == 0) {
      ASSERT_TRUE(run_model(weighted, budget, {}, clock_, {}, stop_).ok());
    } else {
      Rng rng(seed);
      const std::function<void(const ModelProgress&)> silent;
      const auto agenda = make_model_agenda(weighted, budget, clock_, silent);
      run_in_any_order(driven, *agenda, rng);
    }
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      EXPECT_TRUE(sessions[i]->finished()) << "seed " << seed << " task " << i;
      const std::string text = decisions(*now, *sessions[i]);
      if (seed == 0) expected.push_back(text);
      EXPECT_EQ(text, expected[i]) << "seed " << seed << " task " << i;
    }
  }
}

}  // namespace
}  // namespace attune::session
