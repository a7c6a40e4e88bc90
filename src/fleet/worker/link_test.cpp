#include "fleet/worker/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "fleet/worker/admitting_scheduler_testing.h"

namespace attune::worker {
namespace {

// Keeps what it hears as text.
class Heard final : public LinkEvents {
 public:
  void assigned(const client::JobStatus& job, const Devices& devices) override {
    say(fmt::format("assigned {} {}", job.id, job.request.model));
    say(fmt::format("{} devices of {} cores", devices.count, devices.cores));
  }
  void may_start(const Holding& holding, std::int64_t stage, const std::vector<int>&) override {
    say(fmt::format("start {}", stage), holding);
  }
  void wished(const Holding& holding, client::Wish wish) override {
    say(wish == client::Wish::Stop ? "stop" : "cancel", holding);
  }
  void refused(const Holding&, std::int64_t, const std::string& why) override { say(why); }
  void known(const Holding& holding, std::int64_t stage) override {
    say(fmt::format("known {}", stage), holding);
  }
  void lost(const Error&) override { say("lost"); }

  void wait_for(const std::string& text) { (void)wait_for_either(text, text); }
  // Returns the one that came first.
  std::string wait_for_either(const std::string& one, const std::string& other) {
    std::unique_lock lock(mutex_);
    const auto wanted = [&](const std::string& text) { return text == one || text == other; };
    auto found = all_.end();
    changed_.wait(lock, [&] {
      found = std::find_if(all_.begin(), all_.end(), wanted);
      return found != all_.end();
    });
    return *found;
  }

 private:
  void say(const std::string& text, const Holding& holding = {}) {
    const std::lock_guard lock(mutex_);
    all_.push_back(holding.job.empty() ? text
                                       : fmt::format("{}/{} {}", holding.job, holding.epoch, text));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

TEST(Link, TakesAJobThroughItsStages) {
  AdmittingScheduler scheduler;
  v1::JobSpec spec;
  spec.set_model("resnet18");
  scheduler.give("j7", spec, v1::STOP);
  scheduler.set_devices(3, 2);
  Heard heard;
  auto link = Link::open({.state = scheduler.state(), .version = "1.2", .name = "w"}, heard);
  ASSERT_TRUE(link.ok()) << link.error().message;
  EXPECT_EQ((*link)->name(), "w-1");
  EXPECT_EQ(scheduler.hello().version(), "1.2");
  heard.wait_for("assigned j7 resnet18");
  heard.wait_for("3 devices of 2 cores");
  const Holding job{"j7", 1};
  (*link)->say_kinds(job, {{.name = "build"}, {.name = "profile", .pool = "cpu"}});
  (*link)->offer(job, 4, 1);
  heard.wait_for("j7/1 start 4");
  (*link)->finished(job, 4, 0.5, StageEnd::Completed, "");
  heard.wait_for("j7/1 stop");
  EXPECT_EQ(scheduler.finished(), (std::map<std::string, int>{{"profile", 1}}));
  (*link)->ended(job, client::JobState::Stopped, "", "{}");
  EXPECT_EQ(scheduler.ended().state(), v1::STOPPED);
  heard.wait_for("j7/1 known -1");
  EXPECT_TRUE(scheduler.mistakes().empty());
  scheduler.close();
  heard.wait_for("lost");
}

TEST(Link, IsMendedWithASchedulerThatWasStartedAnew) {
  AdmittingScheduler scheduler;
  scheduler.set_lease_seconds(60);
  scheduler.give("j7", {});
  Heard heard;
  auto link = Link::open({.state = scheduler.state(), .name = "w"}, heard);
  ASSERT_TRUE(link.ok()) << link.error().message;
  heard.wait_for("assigned j7 ");
  const Holding job{"j7", 1};
  (*link)->say_kinds(job, {{.name = "build"}, {.name = "profile", .pool = "cpu"}});
  (*link)->offer(job, 4, 1);
  heard.wait_for("j7/1 start 4");
  scheduler.close();
  (*link)->finished(job, 4, 0.5, StageEnd::Completed, "");  // to nobody
  (*link)->offer(job, 5, 0);
  scheduler.move();
  heard.wait_for("j7/1 start 5");
  ASSERT_EQ(scheduler.hello().holds_size(), 1);
  EXPECT_EQ(scheduler.hello().holds(0).epoch(), 1);
  EXPECT_EQ(scheduler.finished(), (std::map<std::string, int>{{"profile", 1}}));
  (*link)->finished(job, 5, 0.5, StageEnd::Completed, "");
  (*link)->ended(job, client::JobState::Done, "", "{}");
  EXPECT_EQ(scheduler.ended().state(), v1::DONE);
  EXPECT_TRUE(scheduler.mistakes().empty());
}

// Nobody else could be given the job while no scheduler is there. It sleeps: that time passes on
// the real clock, which counts the lease, is what it is about.
TEST(Link, WaitsLongerForASchedulerThatIsNotThere) {
  AdmittingScheduler scheduler;
  scheduler.set_lease_seconds(4);  // a line is mended for half of it
  scheduler.give("j7", {});
  Heard heard;
  auto link = Link::open({.state = scheduler.state(), .name = "w"}, heard);
  ASSERT_TRUE(link.ok()) << link.error().message;
  heard.wait_for("assigned j7 ");
  scheduler.close();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  scheduler.set_lease_seconds(600);
  scheduler.move();
  (*link)->say_kinds({"j7", 1}, {{.name = "build"}});
  (*link)->offer({"j7", 1}, 4, 0);
  EXPECT_EQ(heard.wait_for_either("j7/1 start 4", "lost"), "j7/1 start 4");
}

// A message with other bytes would not be read, and the line would break.
TEST(Link, SaysWhatIsNoTextAllTheSame) {
  AdmittingScheduler scheduler;
  scheduler.give("j7", {});
  Heard heard;
  auto link = Link::open({.state = scheduler.state(), .name = "w"}, heard);
  ASSERT_TRUE(link.ok()) << link.error().message;
  heard.wait_for("assigned j7 ");
  (*link)->ended({"j7", 1}, client::JobState::Failed, "no file 'a\xff'", "{}");
  EXPECT_EQ(scheduler.ended().reason(), "no file 'a\ufffd'");
}

TEST(Link, HandsAJobBack) {
  AdmittingScheduler scheduler;
  scheduler.give("j7", {});
  Heard heard;
  auto link = Link::open({.state = scheduler.state(), .name = "w"}, heard);
  ASSERT_TRUE(link.ok()) << link.error().message;
  heard.wait_for("assigned j7 ");
  (*link)->ended({"j7", 1}, client::JobState::Queued, "not yet", "");
  EXPECT_EQ(scheduler.ended().state(), v1::QUEUED);
}

TEST(Link, SaysThatThereIsNoScheduler) {
  std::string state;
  {
    const AdmittingScheduler gone;
    state = gone.state();
  }
  Heard heard;
  const auto link = Link::open({.state = state, .patience_seconds = 0.05}, heard);
  ASSERT_FALSE(link.ok());
  EXPECT_NE(link.error().message.find("no scheduler serves '" + state + "'"), std::string::npos);
}

}  // namespace
}  // namespace attune::worker
