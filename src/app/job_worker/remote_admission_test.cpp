// What a job asks the scheduler for, and what it does when it is admitted.
#include "app/job_worker/remote_admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace attune::job_worker {
namespace {

using session::Resource;
using session::Work;

// Keeps what was said: "offer 0 build", "finished 0 completed 2.0 s".
class Said final : public worker::StageLine {
 public:
  void say_kinds(const worker::Holding&, const std::vector<worker::KindOfStage>& kinds) override {
    kinds_ = kinds;
  }
  void offer(const worker::Holding&, std::int64_t stage, int kind) override {
    lines_.push_back(
        fmt::format("offer {} {}", stage, kinds_.at(static_cast<std::size_t>(kind)).name));
  }
  void finished(const worker::Holding&, std::int64_t stage, double seconds, worker::StageEnd end,
                const std::string&) override {
    constexpr const char* kEnds[] = {"completed", "disturbed", "broken", "withdrawn"};
    lines_.push_back(
        fmt::format("finished {} {} {:.1f} s", stage, kEnds[static_cast<int>(end)], seconds));
  }
  std::vector<std::string> since() { return std::exchange(lines_, {}); }

 private:
  std::vector<worker::KindOfStage> kinds_;
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

Work build(std::int64_t round) { return {"build", Resource::HostCores, 0, round}; }
Work profile(std::int64_t round) { return {"profile", Resource::Device, 0, round}; }
Work confirm(std::int64_t round) { return {"confirm", Resource::Device, 1, round}; }

class RemoteAdmissionTest : public ::testing::Test {
 protected:
  // As the loop that runs stages does.
  void SetUp() override {
    admission_.watch([] {});
  }
  void ends(const Work& work, double seconds) { admission_.ended(work, seconds, {}); }

  Said said_;
  RemoteAdmission admission_{said_, {"job", 1}, "cpu", false};
};

TEST_F(RemoteAdmissionTest, WhatIsReadyIsOfferedAndWaits) {
  EXPECT_TRUE(admission_.choose({build(1)}).empty());
  EXPECT_EQ(said_.since(), Lines{"offer 0 build"});
  EXPECT_TRUE(admission_.choose({build(1)}).empty());
  EXPECT_TRUE(said_.since().empty());
  admission_.may_start(0, {});
  EXPECT_EQ(admission_.choose({build(1)}), std::vector{build(1)});
  ends(build(1), 0.5);
  EXPECT_TRUE(admission_.choose({}).empty());
  EXPECT_EQ(said_.since(), Lines{"finished 0 completed 0.5 s"});
}

TEST_F(RemoteAdmissionTest, LikeStagesGoOnWithinOneTurn) {
  EXPECT_TRUE(admission_.choose({profile(1)}).empty());
  admission_.may_start(0, {});
  EXPECT_EQ(admission_.choose({profile(1), confirm(3)}), std::vector{profile(1)});
  ends(profile(1), 0.25);
  EXPECT_EQ(admission_.choose({confirm(3)}), std::vector{confirm(3)});
  ends(confirm(3), 0.25);
  admission_.choose({build(2)});
  EXPECT_EQ(said_.since(), (Lines{"offer 0 profile", "offer 1 confirm",
                                  "finished 0 completed 0.5 s", "offer 2 build"}));
}

TEST_F(RemoteAdmissionTest, ATurnEndsAfterASecond) {
  admission_.choose({build(1), build(2)});
  admission_.may_start(0, {});
  EXPECT_EQ(admission_.choose({build(1), build(2)}), std::vector{build(1)});
  ends(build(1), 1.5);
  EXPECT_TRUE(admission_.choose({build(2)}).empty());
  const Lines lines = said_.since();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[0], "offer 0 build");
  EXPECT_NE(std::find(lines.begin(), lines.end(), "finished 0 completed 1.5 s"), lines.end());
}

TEST_F(RemoteAdmissionTest, AdmissionOfWhatIsNoLongerWantedIsGivenBack) {
  admission_.choose({build(1)});
  admission_.choose({profile(1)});
  said_.since();
  admission_.may_start(0, {});
  EXPECT_EQ(said_.since(), Lines{"finished 0 withdrawn 0.0 s"});
}

TEST_F(RemoteAdmissionTest, WhatWasDisturbedGivesTheDeviceBack) {
  admission_.choose({profile(1)});
  admission_.may_start(0, {});
  admission_.choose({profile(1), profile(2)});
  admission_.disturbed(profile(1));
  ends(profile(1), 0.1);
  EXPECT_TRUE(admission_.choose({profile(2)}).empty());
  const Lines lines = said_.since();
  EXPECT_NE(std::find(lines.begin(), lines.end(), "finished 0 disturbed 0.1 s"), lines.end());
}

TEST_F(RemoteAdmissionTest, AStageThatTheSchedulerIsNotToldOfFailsInWords) {
  const Work knitting{"knit", Resource::HostCores, 0, 1};
  EXPECT_EQ(admission_.choose({knitting}), std::vector{knitting});
  const Status entered = admission_.enter(knitting);
  ASSERT_FALSE(entered.ok());
  EXPECT_EQ(entered.error().message,
            "the scheduler is not told of stages of the kind 'knit' on the host");
  admission_.ended(knitting, 0, entered);
  EXPECT_TRUE(said_.since().empty());
  const Work elsewhere{"build", Resource::Device, 0, 1};
  EXPECT_EQ(admission_.choose({elsewhere}), std::vector{elsewhere});
  EXPECT_EQ(admission_.enter(elsewhere).error().message,
            "the scheduler is not told of stages of the kind 'build' on the device");
}

TEST_F(RemoteAdmissionTest, InTurnOneStageIsAskedForAtATimeTheHostsFirst) {
  RemoteAdmission alone(said_, {"job", 1}, "cpu", true);
  alone.watch([] {});
  alone.choose({profile(1), build(2)});
  EXPECT_EQ(said_.since(), Lines{"offer 0 build"});
}

}  // namespace
}  // namespace attune::job_worker
