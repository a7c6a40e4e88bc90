#include "tuner/whole_model/tuning_resources.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

// Says what is held, in the order of events.
class Diary final : public session::Admission {
 public:
  std::vector<session::Work> choose(const std::vector<session::Work>& ready) override {
    for (const session::Work& work : ready) text += "+" + std::string(work.kind) + " ";
    held += static_cast<int>(ready.size());
    most = std::max(most, held);
    return ready;
  }
  void ended(const session::Work& work, double, const Status& status) override {
    text += "-" + std::string(work.kind) + (status.ok() ? " " : "! ");
    --held;
  }
  void watch(std::function<void()>) override {}
  std::string text;
  int held = 0, most = 0;
};

class DiaryResources final : public TuningResources {
 public:
  Status open(const target::Target&) override { return {}; }
  measure::Builder& builder() override { CHECK(false, "not asked for"); }
  measure::Runner& runner() override { CHECK(false, "not asked for"); }
  session::Admission& admission() override { return diary; }
  const Clock& clock() const override { return time; }
  bool overlap() const override { return false; }
  int window() const override { return 1; }
  Status aside(const std::function<Status()>& work) override { return work(); }
  const std::atomic<bool>* dropped() const override { return &stop; }
  Diary diary;
  std::atomic<bool> stop = false;

  class Time final : public Clock {
   public:
    std::int64_t now_ns() const override { return ns; }
    void pass(double seconds) { ns += static_cast<std::int64_t>(seconds * 1e9); }
    std::int64_t ns = 0;
  };
  Time time;
};

TEST(TuningResources, OneStageWithinAnotherHoldsNothingTwice) {
  DiaryResources resources;
  const Status status = resources.run_stage("compile", session::Resource::HostCores, [&] {
    return resources.run_stage("layouts", session::Resource::Device, [] { return Status(); });
  });
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(resources.diary.text, "+compile -compile +layouts -layouts +compile -compile ");
  EXPECT_EQ(resources.diary.most, 1);
}

TEST(TuningResources, WhatFailsWithinIsTheFailureOfTheWhole) {
  DiaryResources resources;
  const Status status = resources.run_stage("compile", session::Resource::HostCores, [&] {
    return resources.run_stage("layouts", session::Resource::Device,
                               [] { return Status(invalid("no such layout")); });
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "no such layout");
  EXPECT_EQ(resources.diary.text, "+compile -compile +layouts -layouts! ");
  EXPECT_EQ(resources.diary.held, 0);
}

TEST(TuningResources, NothingBeginsAfterItWasDropped) {
  DiaryResources resources;
  const Status status = resources.run_stage("compile", session::Resource::HostCores, [&] {
    resources.stop = true;
    return resources.run_stage("race", session::Resource::Device, [] { return Status(); });
  });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(resources.diary.text, "+compile -compile ");
}

// What is within another is counted once, for itself, and what nobody admits too.
TEST(TuningResources, CountEverySecondOnce) {
  DiaryResources resources;
  DiaryResources::Time& time = resources.time;
  Status status = resources.count("open", [&] {
    time.pass(0.5);
    return Status();
  });
  ASSERT_TRUE(status.ok());
  status = resources.run_stage("prepare", session::Resource::HostCores, [&] {
    time.pass(2);
    return resources.run_stage("layouts", session::Resource::Device, [&] {
      time.pass(4);
      return Status();
    });
  });
  ASSERT_TRUE(status.ok());
  const std::map<std::string, double> expected{
      {"layouts", 4}, {"open", 0.5}, {"prepare", 2}, {"waiting", 0}};
  EXPECT_EQ(resources.run_seconds(), expected);
}

}  // namespace
}  // namespace attune::whole_model
