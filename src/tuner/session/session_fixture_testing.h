// A session over fakes, run to its end, killed in between, and taken up again; for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tuner/session/fakes_testing.h"
#include "tuner/session/run_local.h"
#include "tuner/session/session.h"

namespace attune::session {

// What a session decided, whatever the way it went.
struct Decisions {
  std::vector<std::string> traces;  // by number
  std::vector<std::string> outcomes;
  std::vector<bool> verified;
  std::string winner;
  std::int64_t trials = 0;
  bool operator==(const Decisions&) const = default;
};

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    // In memory where there is such a place: the store forces every step to the disk.
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    path_ = base + "/attune_session_test." + std::to_string(getpid());
    fresh_store();
  }
  void TearDown() override { remove_store(); }

  void remove_store() {
    store_.reset();
    for (const char* end : {".db", ".db-wal", ".db-shm"}) std::filesystem::remove(path_ + end);
  }
  void fresh_store() {
    remove_store();
    reopen_store();
  }
  void reopen_store() {
    store_.reset();
    auto store = records::open_sqlite_store(path_ + ".db");
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }

  std::unique_ptr<Session> open(Options options, std::int64_t size = 100) {
    auto search = std::make_unique<FakeSearch>(options.seed + 1, size);
    search_ = search.get();
    options.search_name = "fake";
    auto session = Session::open({*store_, builder_, runner_, clock_}, fake_task(),
                                 "cpu -threads=1", std::move(search), fake_trace(0), options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    return std::move(*session);
  }

  // At most `stages` stages, the first that is ready each time, or any when `rng` is given; how
  // many were run.
  static int step(Session& session, int stages = 1000, Rng* rng = nullptr) {
    int done = 0;
    while (!session.finished() && done < stages) {
      const std::vector<Stage> ready = session.ready_stages();
      EXPECT_FALSE(ready.empty());
      if (ready.empty()) break;
      const Stage stage = ready[rng == nullptr ? 0 : rng->below(ready.size())];
      const Status status = session.run(stage);
      EXPECT_TRUE(status.ok()) << status.error().message;
      ++done;
    }
    return done;
  }

  Decisions decisions(const Session& session) {
    Decisions result;
    auto stored = store_->load_session(session.id());
    EXPECT_TRUE(stored.ok());
    for (const auto& candidate : stored->candidates) {
      result.traces.push_back(candidate.trace);
      result.outcomes.push_back(candidate.record ? outcome::describe(candidate.record->outcome)
                                                 : "none");
      result.verified.push_back(candidate.record && candidate.record->verified);
    }
    result.winner = session.report().best_trace;
    result.trials = session.report().trials;
    return result;
  }

  std::string path_;
  FakeWorld world_;
  FakeBuilder builder_{world_};
  FakeRunner runner_{world_};
  FakeClock clock_;
  std::unique_ptr<records::Store> store_;
  FakeSearch* search_ = nullptr;
};

}  // namespace attune::session
