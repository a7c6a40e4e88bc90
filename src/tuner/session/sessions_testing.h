// Sessions of pretended tasks in a store of their own, for tests of what drives them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tuner/session/fakes_testing.h"

namespace attune::session {

class SessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    path_ = base + "/attune_sessions_test." + std::to_string(getpid());
    auto store = records::open_sqlite_store(path_ + ".db");
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  void TearDown() override {
    sessions_.clear();
    store_.reset();
    for (const char* end : {".db", ".db-wal", ".db-shm"}) std::filesystem::remove(path_ + end);
  }

  // One whose space has so many points.
  Session& open(const std::string& key, std::int64_t size, bool on_grant = true,
                measure::Builder* builder = nullptr, measure::Runner* runner = nullptr,
                bool resume = false) {
    Task task = fake_task();
    task.key = key;
    Options options;
    options.trials = 1'000'000;
    options.batch = 6;
    options.on_grant = on_grant;
    options.resume = resume;
    const Context context{*store_, builder == nullptr ? builder_ : *builder,
                          runner == nullptr ? runner_ : *runner, clock_};
    auto session =
        Session::open(context, task, "cpu -threads=1", std::make_unique<FakeSearch>(7, size),
                      fake_trace(0), std::move(options));
    EXPECT_TRUE(session.ok()) << session.error().message;
    sessions_.push_back(std::move(*session));
    return *sessions_.back();
  }

  FakeWorld world_;
  FakeBuilder builder_{world_};
  FakeRunner runner_{world_};
  FakeClock clock_;
  std::string path_;
  std::unique_ptr<records::Store> store_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::atomic<bool> stop_{false};
};

}  // namespace attune::session
