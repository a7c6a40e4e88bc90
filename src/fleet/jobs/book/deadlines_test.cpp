// Stages that fall silent, and workers that cannot be ended.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

constexpr double kFloor = 100;

BookOptions patient(double floor = kFloor) {
  BookOptions with = options();
  with.limits = {.times_predicted = 20, .floor_seconds = floor, .most_tries = 3};
  return with;
}

// Jobs a and b; worker 1 has a and runs stage 7 of it on the device, and beats.
class Silent : public ::testing::Test {
 protected:
  void open(const BookOptions& with, const Pass& pass = kLocal) {
    book_.emplace(with, std::vector<JobRow>(), 0);
    ASSERT_TRUE(book_->submit(kMe, request("a"), 0).ok());
    ASSERT_TRUE(book_->submit(kMe, request("b"), 0).ok());
    take_up(1, pass, "j1", 1, 0);
  }
  void take_up(WorkerId worker, const Pass& pass, const std::string& job, std::int64_t epoch,
               double now) {
    book_->joined(worker, pass, now);
    book_->said(worker, hello(), now);
    ASSERT_EQ(book_->settle(now).messages.back().what.assign().job().id(), job);
    book_->said(worker, kinds(job, epoch), now);
    book_->said(worker, offer(job, epoch, 7, 1), now);
    started_ = book_->settle(now).messages.size() == 1;
  }
  // The workers live: they beat every two seconds until then.
  Effects live_until(double now, const std::vector<WorkerId>& workers) {
    Effects all;
    for (; now_ < now; now_ = std::min(now, now_ + 2)) {
      for (const WorkerId worker : workers) {
        if (book_->knows_worker(worker)) book_->said(worker, beat(), now_);
      }
      pass_time(now_, all);
    }
    pass_time(now, all);
    return all;
  }
  void pass_time(double now, Effects& all) {
    book_->time_passed(now);
    const Effects effects = book_->settle(now);
    all.kill.insert(all.kill.end(), effects.kill.begin(), effects.kill.end());
    all.close.insert(all.close.end(), effects.close.begin(), effects.close.end());
    all.messages.insert(all.messages.end(), effects.messages.begin(), effects.messages.end());
    all.notes.insert(all.notes.end(), effects.notes.begin(), effects.notes.end());
  }

  std::optional<Book> book_;
  double now_ = 0;
  bool started_ = false;
};

TEST_F(Silent, AStageBeyondItsDeadlineIsEndedWithItsWorker) {
  open(patient());
  EXPECT_TRUE(live_until(99, {1}).kill.empty()) << "its beats are heard";
  EXPECT_EQ(book_->next_deadline(), 100) << "the stage's, not the lease's";
  const Effects effects = live_until(100, {1});
  EXPECT_EQ(effects.kill, std::vector<WorkerId>{1});
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_EQ(effects.notes[0],
            "job j1 (a): its stage 'profile' said nothing for 100 s and was ended, try 1 of 3");
  EXPECT_EQ(job_of(*book_, "a", 100).strikes().last(),
            "its stage 'profile' said nothing for 100 s and was ended");
  EXPECT_EQ(job_of(*book_, "a", 100).reason(), "waits for the process of its worker w to end");
  book_->process_ended(1, {}, 100.5);
  EXPECT_EQ(book_->snapshot(kMe, {}, 101)->pools(1).used(), 0) << "the device is free";
  now_ = 101;
  take_up(2, kLocal, "j1", 2, 101);  // tried again
  EXPECT_TRUE(started_);
}

TEST_F(Silent, AfterAFewTriesTheJobHasFailed) {
  open(patient());
  std::int64_t epoch = 1;
  for (WorkerId worker = 1; worker <= 3; ++worker, ++epoch) {
    if (worker > 1) take_up(worker, kLocal, "j1", epoch, now_);
    EXPECT_EQ(live_until(now_ + 100, {worker}).kill, std::vector<WorkerId>{worker});
    book_->process_ended(worker, {.cause = WorkerDeath::Cause::Crashed}, now_);
  }
  EXPECT_EQ(job_of(*book_, "a", now_).state(), v1::FAILED);
  EXPECT_EQ(job_of(*book_, "a", now_).reason(),
            "its stage 'profile' said nothing for 100 s and was ended; that was the last of 3 "
            "tries without progress");
  take_up(9, kLocal, "j2", 1, now_);
}

TEST_F(Silent, TheDeadlineIsManyTimesThePrediction) {
  open(patient(1));  // usual are 1 s
  EXPECT_TRUE(live_until(19, {1}).kill.empty());
  EXPECT_EQ(live_until(20, {1}).kill, std::vector<WorkerId>{1});
}

TEST_F(Silent, AStageThatSaysThatItGoesOnIsLeftAlone) {
  open(patient());
  for (double now = 90; now <= 900; now += 90) {
    EXPECT_TRUE(live_until(now, {1}).kill.empty());
    book_->said(1, alive("j1", 1, 7), now);
  }
  book_->said(1, alive("j1", 1, 99), 910);  // of no stage that is known
  EXPECT_TRUE(live_until(999, {1}).kill.empty());
  EXPECT_EQ(live_until(1000, {1}).kill, std::vector<WorkerId>{1});
}

TEST_F(Silent, TimeInWhichTheSchedulerStoodStillDoesNotCount) {
  open(patient());
  live_until(60, {1});
  book_->stood_still(5000);
  now_ += 5000;
  EXPECT_TRUE(live_until(5099, {1}).kill.empty());
  EXPECT_EQ(live_until(5100, {1}).kill, std::vector<WorkerId>{1});
}

TEST_F(Silent, OfAWorkerElsewhereTheDeviceIsFreeAfterALease) {
  open(patient(), kElsewhere);
  const Effects effects = live_until(100, {1});
  EXPECT_TRUE(effects.kill.empty()) << "it is nobody's to kill";
  EXPECT_EQ(effects.close, std::vector<WorkerId>{1});
  EXPECT_EQ(effects.messages.back().what.refused().why(),
            "its stage 'profile' said nothing for 100 s and was ended");
  EXPECT_EQ(book_->snapshot(kMe, {}, 100)->pools(1).used(), 1);
  EXPECT_EQ(job_of(*book_, "a", 100).reason(),
            "its stage 'profile' said nothing for 100 s and was ended");
  // It cannot come back with it.
  v1::FromWorker again = hello();
  v1::Holding& holding = *again.mutable_hello()->add_holds();
  holding.set_job("j1");
  holding.set_epoch(1);
  book_->joined(5, {.caller = kMe}, 101);
  book_->said(5, again, 101);
  EXPECT_FALSE(book_->knows_worker(5));
  live_until(110, {});
  EXPECT_EQ(book_->snapshot(kMe, {}, 110)->pools(1).used(), 0);
  EXPECT_EQ(job_of(*book_, "a", 110).state(), v1::QUEUED);
}

TEST_F(Silent, OfAnotherTunerTheJobHasFailed) {
  book_.emplace(patient(), std::vector<JobRow>(), 0);
  v1::FromWorker registration;
  *registration.mutable_register_()->mutable_kinds() = kinds("", 0).kinds().kinds();
  book_->joined(1, kElsewhere, 0);
  book_->said(1, hello(), 0);
  book_->said(1, registration, 0);
  book_->said(1, offer("j1", 1, 1, 1), 0);
  book_->settle(0);
  live_until(100, {1});
  live_until(110, {});
  EXPECT_EQ(job_of(*book_, "j1", 110).state(), v1::FAILED);
  EXPECT_EQ(job_of(*book_, "j1", 110).reason(),
            "its stage 'profile' said nothing for 100 s and was ended");
}

// In uninterruptible sleep, say: it was killed, and does not end.
TEST_F(Silent, AProcessThatDoesNotEndKeepsItsDeviceAndNothingElse) {
  BookOptions with = patient();
  with.pools = {{"host", {{0}}}, {"cpu", {{1}, {2}}}};
  open(with);
  EXPECT_EQ(live_until(100, {1}).kill, std::vector<WorkerId>{1});
  take_up(2, kLocal, "j2", 1, now_);
  EXPECT_TRUE(started_) << "the other device is given out";
  for (std::int64_t stage = 8; stage < 100; ++stage) {
    book_->said(2, finished("j2", 1, stage - 1), now_);
    book_->said(2, offer("j2", 1, stage, 1), now_);
    const Effects effects = live_until(now_ + 50, {2});
    ASSERT_EQ(effects.messages.back().what.start().device(), "cpu:1");
    ASSERT_TRUE(effects.kill.empty()) << "it is killed once";
  }
  EXPECT_EQ(job_of(*book_, "a", now_).state(), v1::QUEUED);
  // Its job can be cancelled, and is as soon as it has ended.
  ASSERT_TRUE(book_->control(kMe, wish("a", v1::CANCEL), now_).ok());
  EXPECT_NE(job_of(*book_, "a", now_).state(), v1::CANCELLED) << "its folder is still in use";
  book_->process_ended(1, {}, now_);
  EXPECT_EQ(job_of(*book_, "a", now_).state(), v1::CANCELLED);
  EXPECT_EQ(book_->snapshot(kMe, {}, now_)->pools(1).used(), 1);
}

}  // namespace
}  // namespace attune::jobs
