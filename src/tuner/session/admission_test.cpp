#include "tuner/session/admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tuner/session/driver.h"
#include "tuner/session/run_local.h"
#include "tuner/session/run_model.h"
#include "tuner/session/sessions_testing.h"

namespace attune::session {
namespace {

TEST(LocalAdmission, GivesTheDeviceToOneAndHostCoresToAsManyAsThereAre) {
  LocalAdmission admission({.host_stages = 2});
  const Work first{.kind = "profile", .resource = Resource::Device, .owner = 0};
  const Work second{.kind = "profile", .resource = Resource::Device, .owner = 1};
  const Work a{.kind = "build", .owner = 2}, b{.kind = "build", .owner = 3},
      c{.kind = "build", .owner = 4};
  EXPECT_EQ(admission.choose({first, a, second, b, c}), (std::vector<Work>{first, a, b}));
  EXPECT_TRUE(admission.choose({second, c}).empty());
  admission.ended(a, 1, {});
  EXPECT_EQ(admission.choose({second, c}), std::vector<Work>{c});
  admission.ended(first, 1, {});
  EXPECT_EQ(admission.choose({second}), std::vector<Work>{second});
}

// Admission from a thread of its own, one piece of work at a time, the last that was asked for
// first.
class SlowAdmission final : public Admission {
 public:
  ~SlowAdmission() override {
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

class AdmissionTest : public SessionsTest {
 protected:
  SlowAdmission admission_;
  std::atomic<bool> enough_{false};
};

TEST_F(AdmissionTest, StagesOfSessionsAndOfTheRunWaitForAdmission) {
  Session& first = open("00000000000000d1", 60, true);
  Session& second = open("00000000000000d2", 12, true);
  bool compiled = false;
  std::vector<RunStage> run_stages;
  run_stages.push_back({{.kind = "compile"}, [&] {
                          compiled = true;
                          return Status();
                        }});
  const Status status = run_model({{&first}, {&second}}, {.seconds = 1e6}, admission_, clock_, {},
                                  stop_, nullptr, std::move(run_stages));
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(first.finished());
  EXPECT_TRUE(second.finished());
  EXPECT_TRUE(compiled);
  EXPECT_EQ(admission_.most, 1) << "never more than was admitted";
  const std::set<std::string> all = {"init",   "select",  "build",  "profile",
                                     "update", "confirm", "compile"};
  EXPECT_EQ(admission_.entered, all);
}

// Two devices of one kind and a core for the host.
class TwoDevices final : public Admission {
 public:
  std::vector<Work> choose(const std::vector<Work>& ready) override {
    std::vector<Work> chosen;
    for (const Work& work : ready) {
      const bool device = work.resource == Resource::Device;
      int& free = device ? devices_ : cores_;
      if (free == 0) continue;
      --free;
      chosen.push_back(work);
    }
    return chosen;
  }
  void ended(const Work& work, double, const Status&) override {
    ++(work.resource == Resource::Device ? devices_ : cores_);
  }
  void watch(std::function<void()>) override {}
  void disturbed(const Work& work) override { disturbed_rounds.push_back(work.round); }
  int disturbed_repeats() const override { return 1; }

  std::vector<std::int64_t> disturbed_rounds;

 private:
  int devices_ = 2, cores_ = 1;
};

// Each of the first two measurements waits for the other to begin.
class MeetingRunner final : public measure::Runner {
 public:
  explicit MeetingRunner(const FakeWorld& world) : runner_(world) {}
  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    met_ = changed_.wait_for(lock, std::chrono::seconds(20), [&] { return begun_ >= 2; });
    return runner_.measure(requests, expectation, options);
  }
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override {
    return runner_.compare(requests, expectation, options);
  }
  std::string device() const override { return runner_.device(); }
  double busy_seconds() const override { return runner_.busy_seconds(); }
  bool met() const { return met_; }

 private:
  FakeRunner runner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  bool met_ = false;
};

// Its candidates in their order, with the round and the time of each.
std::string decisions_of(records::Store& store, const Session& session) {
  std::string text;
  const auto stored = store.load_session(session.id());
  EXPECT_TRUE(stored.ok());
  for (const records::SessionCandidate& each : stored->candidates) {
    text += std::to_string(each.round) + " " + each.trace + " " +
            outcome::describe(each.record->outcome) + "\n";
  }
  return text;
}

TEST_F(AdmissionTest, OneTaskIsMeasuredOnSeveralDevicesAndDecidesAsOnOne) {
  const auto open_with = [&](const std::string& key, measure::Runner& runner) {
    Task task = fake_task();
    task.key = key;
    const Options options{.trials = 60, .batch = 6, .window = 3};
    auto session = Session::open({*store_, builder_, runner, clock_}, task, "cpu -threads=1",
                                 std::make_unique<FakeSearch>(7, 1000), fake_trace(0), options);
    EXPECT_TRUE(session.ok());
    return std::move(*session);
  };
  const auto alone = open_with("00000000000000e1", runner_);
  ASSERT_TRUE(run_local(*alone).ok());
  MeetingRunner meeting(world_);
  const auto shared = open_with("00000000000000e2", meeting);
  TwoDevices devices;
  ASSERT_TRUE(run_admitted(*shared, devices, clock_, nullptr, &stop_, nullptr, nullptr).ok());
  EXPECT_TRUE(meeting.met()) << "one round was measured after the other";
  EXPECT_EQ(decisions_of(*store_, *shared), decisions_of(*store_, *alone));
}

TEST_F(AdmissionTest, WhoAdmitsHearsOfWhatWasDisturbed) {
  Session& session = open("00000000000000e3", 60, false);
  runner_.noisy = {{37, 1}};  // the fastest
  TwoDevices devices;
  ASSERT_TRUE(run_admitted(session, devices, clock_, nullptr, &stop_, nullptr, nullptr).ok());
  EXPECT_EQ(devices.disturbed_rounds.size(), 1u);
  EXPECT_TRUE(session.finished());
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

TEST_F(AdmissionTest, EnoughNamesTheBestSoFar) {
  Session& session = open("00000000000000d3", 100'000, false);
  Enough observer(enough_);
  const Status status =
      run_admitted(session, admission_, clock_, &observer, &stop_, &enough_, nullptr);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(session.finished());
  EXPECT_LT(session.report().trials, 100);
  EXPECT_TRUE(session.report().best_us.has_value());
}

TEST_F(AdmissionTest, ModelsEndEarlyToo) {
  Session& session = open("00000000000000d4", 100'000, true);
  const Status status = run_model(
      {{&session}}, {.seconds = 1e9, .enough = &enough_, .allotment = {.patience = 1'000'000}},
      admission_, clock_, [&](const ModelProgress& p) { enough_ = p.trials >= 8; }, stop_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(session.finished());
  EXPECT_LT(session.report().trials, 100);
}

TEST_F(AdmissionTest, AStageThatIsNoLongerWantedIsNotRun) {
  stop_ = true;
  EXPECT_FALSE(await_admission({.kind = "race"}, admission_, &stop_).ok());
  EXPECT_TRUE(admission_.entered.empty());
}

}  // namespace
}  // namespace attune::session
