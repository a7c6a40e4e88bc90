#include "tuner/session/run_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tuner/session/fakes_testing.h"

namespace attune::session {
namespace {

class RunModelTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    path_ = base + "/attune_run_model_test." + std::to_string(getpid());
    auto store = records::open_sqlite_store(path_ + ".db");
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  void TearDown() override {
    sessions_.clear();
    store_.reset();
    for (const char* end : {".db", ".db-wal", ".db-shm"}) std::filesystem::remove(path_ + end);
  }

  Session& open(const std::string& key, std::int64_t size) {
    Task task = fake_task();
    task.key = key;
    Options options;
    options.trials = 1'000'000;
    options.batch = 6;
    options.on_grant = true;
    options.search_name = "fake";
    auto session = Session::open({*store_, builder_, runner_, clock_}, task, "cpu -threads=1",
                                 std::make_unique<FakeSearch>(7, size), fake_trace(0), options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    sessions_.push_back(std::move(*session));
    return *sessions_.back();
  }

  FakeWorld world_;
  FakeBuilder builder_{world_};
  FakeRunner runner_{world_};
  FakeClock clock_;
  Machine machine_;
  std::string path_;
  std::unique_ptr<records::Store> store_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::atomic<bool> stop_{false};
};

TEST_F(RunModelTest, FinishesAllAndFindsTheBestOfEach) {
  Session& large = open("00000000000000a1", 90);
  Session& small = open("00000000000000a2", 12);
  std::size_t told = 0;
  const auto status = run_model(
      {{&large, {.uses = 1}}, {&small, {.uses = 3}}},
      {.seconds = 1e6, .closing_seconds = 0.1, .allotment = {.patience = 100}}, machine_, clock_,
      [&](const ModelProgress& progress) {
        ++told;
        ASSERT_EQ(progress.tasks.size(), 2U);
        EXPECT_EQ(progress.trials, progress.tasks[0].trials + progress.tasks[1].trials);
      },
      stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(large.finished());
  EXPECT_TRUE(small.finished());
  EXPECT_TRUE(large.report().exhausted);
  EXPECT_EQ(large.report().best_trace, schedule::to_string(fake_trace(37)));
  EXPECT_GT(told, 4U);
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
