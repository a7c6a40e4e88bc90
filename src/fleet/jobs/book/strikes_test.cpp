// Jobs that their workers die of: when they are given up, and with which words.
#include "fleet/jobs/book/strikes.h"

#include <gtest/gtest.h>

#include <limits>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

using Cause = WorkerDeath::Cause;

const WorkerDeath kCrash{.cause = Cause::Crashed, .how = "signal 11"};
const WorkerDeath kKilled{.cause = Cause::Killed, .how = "signal 9"};
const WorkerDeath kStarved{.cause = Cause::Starved, .how = "signal 9", .peak_bytes = 1'840'000'000};

// One job, whose workers do what the test says and die.
class Poisonous : public ::testing::Test {
 protected:
  Poisonous() { EXPECT_TRUE(book_.submit(kMe, request("a"), 0).ok()); }

  // A worker takes the job up in its next epoch and says its kinds.
  void take_up() {
    ++worker_;
    ++epoch_;
    book_.joined(worker_, kLocal, 0);
    book_.said(worker_, hello(), 0);
    EXPECT_EQ(settle().messages.back().what.assign().job().epoch(), epoch_);
    book_.said(worker_, kinds("j1", epoch_), 0);
  }
  void finish_stage(std::int64_t stage, int kind) {
    book_.said(worker_, offer("j1", epoch_, stage, kind), 0);
    settle();
    book_.said(worker_, finished("j1", epoch_, stage), 0);
  }
  void die(const WorkerDeath& death) {
    book_.left(worker_, 0);
    EXPECT_EQ(settle().kill, std::vector<WorkerId>{worker_});
    book_.process_ended(worker_, death, 0);
  }
  Effects settle() {
    Effects effects = book_.settle(0);
    for (const JobRow& row : effects.jobs) kept_ = row;
    notes_.insert(notes_.end(), effects.notes.begin(), effects.notes.end());
    return effects;
  }
  v1::Job job() const { return job_of(book_, "a", 0); }

  Book book_{options(), {}, 0};
  WorkerId worker_ = 0;
  std::int64_t epoch_ = 0;
  JobRow kept_;
  std::vector<std::string> notes_;
};

TEST_F(Poisonous, AJobThatEatsTheMemoryFailsAfterAFewTriesAndSaysSo) {
  for (int i = 0; i < 2; ++i) {
    take_up();
    die(kStarved);
    EXPECT_EQ(job().state(), v1::QUEUED);
  }
  take_up();
  die(kStarved);
  EXPECT_EQ(job().state(), v1::FAILED);
  EXPECT_EQ(job().reason(),
            "the system killed its worker for want of memory, which had taken 1840 MB; that was "
            "the last of 3 tries without progress");
  settle();
  ASSERT_EQ(notes_.size(), 3u);
  EXPECT_EQ(notes_[1],
            "job j1 (a): the system killed its worker for want of memory, which had taken 1840 MB, "
            "try 2 of 3");
}

TEST_F(Poisonous, ToBeginAgainIsNoProgress) {
  for (int i = 0; i < 2; ++i) {
    take_up();
    finish_stage(1, 0);  // as the worker before it did
    finish_stage(2, 1);
    die(kStarved);
  }
  EXPECT_EQ(job().state(), v1::QUEUED);
  take_up();
  finish_stage(1, 0);
  finish_stage(2, 1);
  die(kStarved);
  EXPECT_EQ(job().state(), v1::FAILED);
}

TEST_F(Poisonous, ProgressBetweenDeathsIsForgiven) {
  for (int i = 0; i < 20; ++i) {
    take_up();
    book_.said(worker_, progress("j1", epoch_, 1 + i / 2), 0);  // every other comes further
    die(i % 3 == 0 ? kStarved : i % 3 == 1 ? kCrash : kKilled);
    EXPECT_EQ(job().state(), v1::QUEUED) << i;
  }
  for (int i = 0; i < 20; ++i) {  // a stage more than all before
    take_up();
    for (int stage = 0; stage <= i; ++stage) finish_stage(stage, 1);
    die(kStarved);
    EXPECT_EQ(job().state(), v1::QUEUED) << i;
  }
}

TEST_F(Poisonous, CrashesAndKillsByHandAreForgivenMoreOften) {
  for (int i = 0; i < 9; ++i) {
    take_up();
    die(kCrash);
    take_up();
    die(kKilled);
  }
  EXPECT_EQ(job().state(), v1::QUEUED);
  take_up();
  die(kCrash);
  EXPECT_EQ(job().state(), v1::FAILED);
  EXPECT_EQ(job().reason(),
            "its worker crashed (signal 11); that was the last of 10 tries without progress");
}

TEST_F(Poisonous, WorkersThatTheSchedulerEndsAreNotTheFaultOfTheirJob) {
  for (int i = 0; i < 50; ++i) {
    take_up();
    die({});
  }
  // Nor how a silent one ended.
  take_up();
  book_.time_passed(10);
  EXPECT_EQ(book_.settle(10).kill, std::vector<WorkerId>{worker_});
  book_.process_ended(worker_, kCrash, 10);
  EXPECT_EQ(job_of(book_, "a", 10).state(), v1::QUEUED);
  EXPECT_EQ(job_of(book_, "a", 10).strikes().last(), "") << "nothing was counted";
}

TEST_F(Poisonous, StrikesOutliveTheScheduler) {
  for (int i = 0; i < 2; ++i) {
    take_up();
    finish_stage(1, 0);
    if (i == 0) finish_stage(2, 0);
    die(kStarved);
  }
  settle();
  Book next(options(), {kept_}, 1);
  next.joined(100, kLocal, 1);
  next.said(100, hello(), 1);
  next.said(100, kinds("j1", 3), 1);
  EXPECT_EQ(job_of(next, "a", 1).strikes().starved(), 2);
  next.settle(1);
  next.said(100, kinds("j1", 3), 1);
  next.said(100, offer("j1", 3, 1, 0), 1);
  next.settle(1);
  next.said(100, finished("j1", 3, 1), 1);
  next.left(100, 1);
  next.process_ended(100, kStarved, 1);
  EXPECT_EQ(job_of(next, "a", 1).state(), v1::FAILED) << "two stages had been finished before";
}

TEST_F(Poisonous, WhatAWorkerSaidBeforeItDiedCounts) {
  take_up();
  book_.process_ended(worker_, kStarved, 0);  // known before its connection ends
  EXPECT_TRUE(book_.knows_worker(worker_));
  book_.said(worker_, progress("j1", epoch_, 5), 0);
  book_.left(worker_, 0);
  EXPECT_TRUE(settle().kill.empty()) << "it has ended";
  EXPECT_EQ(job().trials(), 5);
  EXPECT_EQ(job().strikes().starved(), 1);
  take_up();
}

TEST(Strikes, AreCountedWhateverADiskSays) {
  v1::Strikes strikes;
  strikes.set_stuck(std::numeric_limits<std::int32_t>::max());
  strikes.set_crashed(std::numeric_limits<std::int32_t>::min());
  count_stuck(strikes, "build", 1);
  EXPECT_TRUE(count_death(strikes, kCrash));
  EXPECT_EQ(strikes.crashed(), 1);
  EXPECT_TRUE(why_given_up(strikes, {}).has_value());
}

}  // namespace
}  // namespace attune::jobs
