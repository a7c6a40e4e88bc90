#include "tuner/session/grants.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "tuner/session/driver.h"
#include "tuner/session/fakes_testing.h"
#include "tuner/session/run_local.h"
#include "tuner/session/run_model.h"

namespace attune::session {
namespace {

TEST(LocalGrants, GivesTheDeviceToOneAndHostCoresToAsManyAsThereAre) {
  LocalGrants grants({.host_stages = 2});
  const Work first{.kind = "profile", .resource = Resource::Device, .owner = 0};
  const Work second{.kind = "profile", .resource = Resource::Device, .owner = 1};
  const Work a{.kind = "build", .owner = 2}, b{.kind = "build", .owner = 3},
      c{.kind = "build", .owner = 4};
  EXPECT_EQ(grants.choose({first, a, second, b, c}), (std::vector<Work>{first, a, b}));
  EXPECT_TRUE(grants.choose({second, c}).empty());
  grants.ended(a, 1, {});
  EXPECT_EQ(grants.choose({second, c}), std::vector<Work>{c});
  grants.ended(first, 1, {});
  EXPECT_EQ(grants.choose({second}), std::vector<Work>{second});
}

// Grants from a thread of its own, one piece of work at a time, the last that was asked for first.
class SlowGrants final : public Grants {
 public:
  ~SlowGrants() override {
    for (std::thread& thread : threads_) thread.join();
  }
  std::vector<Work> choose(const std::vector<Work>& ready) override {
    const std::lock_guard lock(mutex_);
    ready_ = ready;
    if (granted_ && std::find(ready.begin(), ready.end(), *granted_) == ready.end()) {
      granted_.reset();  // no longer wanted
      given_ = false;
    }
    if (granted_) return {*std::exchange(granted_, std::nullopt)};
    if (!given_ && !ready_.empty()) {
      given_ = true;
      threads_.emplace_back([this] { give(); });
    }
    return {};
  }
  Status enter(const Work& work) override {
    const std::lock_guard lock(mutex_);
    entered.insert(std::string(work.kind));
    most = std::max(most, ++running_);
    return {};
  }
  void ended(const Work&, double, const Status&) override {
    const std::lock_guard lock(mutex_);
    --running_;
    given_ = false;
  }
  void watch(std::function<void()> changed) override {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
  }

  std::set<std::string> entered;
  int most = 0;  // that ran at once

 private:
  void give() {
    const std::lock_guard lock(mutex_);
    granted_ = ready_.back();
    if (changed_) changed_();
  }

  std::mutex mutex_;
  std::vector<Work> ready_;
  std::optional<Work> granted_;
  bool given_ = false;
  int running_ = 0;
  std::function<void()> changed_;
  std::vector<std::thread> threads_;
};

class GrantedTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
    path_ = base + "/attune_grants_test." + std::to_string(getpid());
    auto store = records::open_sqlite_store(path_ + ".db");
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  void TearDown() override {
    sessions_.clear();
    store_.reset();
    for (const char* end : {".db", ".db-wal", ".db-shm"}) std::filesystem::remove(path_ + end);
  }

  Session& open(const std::string& key, std::int64_t size, bool on_grant) {
    Task task = fake_task();
    task.key = key;
    Options options;
    options.trials = 1'000'000;
    options.batch = 6;
    options.on_grant = on_grant;
    auto session =
        Session::open({*store_, builder_, runner_, clock_}, task, "cpu -threads=1",
                      std::make_unique<FakeSearch>(7, size), fake_trace(0), std::move(options));
    EXPECT_TRUE(session.ok()) << session.error().message;
    sessions_.push_back(std::move(*session));
    return *sessions_.back();
  }

  FakeWorld world_;
  FakeBuilder builder_{world_};
  FakeRunner runner_{world_};
  FakeClock clock_;
  SlowGrants grants_;
  std::atomic<bool> stop_{false}, enough_{false};
  std::string path_;
  std::unique_ptr<records::Store> store_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(GrantedTest, StagesAndErrandsWaitForLeave) {
  Session& first = open("00000000000000d1", 60, true);
  Session& second = open("00000000000000d2", 12, true);
  bool compiled = false;
  std::vector<Errand> errands;
  errands.push_back({{.kind = "compile"}, [&] {
                       compiled = true;
                       return Status();
                     }});
  const Status status = run_model({{&first}, {&second}}, {.seconds = 1e6}, grants_, clock_, {},
                                  stop_, nullptr, std::move(errands));
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(first.finished());
  EXPECT_TRUE(second.finished());
  EXPECT_TRUE(compiled);
  EXPECT_EQ(grants_.most, 1) << "never more than was granted";
  const std::set<std::string> all = {"init",   "select",  "build",  "profile",
                                     "update", "confirm", "compile"};
  EXPECT_EQ(grants_.entered, all);
}

// Says that it is enough after a few stages.
class Enough final : public Observer {
 public:
  explicit Enough(std::atomic<bool>& enough) : enough_(enough) {}
  void progressed(const Progress& progress) override {
    if (progress.trials >= 8) enough_ = true;
  }

 private:
  std::atomic<bool>& enough_;
};

TEST_F(GrantedTest, EnoughNamesTheBestSoFar) {
  Session& session = open("00000000000000d3", 100'000, false);
  Enough observer(enough_);
  const Status status = run_granted(session, grants_, clock_, &observer, &stop_, &enough_, nullptr);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(session.finished());
  EXPECT_LT(session.report().trials, 100);
  EXPECT_TRUE(session.report().best_us.has_value());
}

TEST_F(GrantedTest, ModelsEndEarlyToo) {
  Session& session = open("00000000000000d4", 100'000, true);
  const Status status = run_model(
      {{&session}}, {.seconds = 1e9, .enough = &enough_, .allotment = {.patience = 1'000'000}},
      grants_, clock_, [&](const ModelProgress& p) { enough_ = p.trials >= 8; }, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(session.finished());
  EXPECT_LT(session.report().trials, 100);
}

TEST_F(GrantedTest, AnErrandThatIsNoLongerWantedIsNotRun) {
  stop_ = true;
  EXPECT_FALSE(await_leave({.kind = "race"}, grants_, &stop_).ok());
  EXPECT_TRUE(grants_.entered.empty());
}

}  // namespace
}  // namespace attune::session
