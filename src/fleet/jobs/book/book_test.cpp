#include <gtest/gtest.h>

#include <algorithm>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

TEST(Book, GivesAJobToAWorkerAndItsStagesWhatTheyNeed) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  EXPECT_EQ(job_of(book, "a", 0).state(), v1::QUEUED);
  EXPECT_EQ(job_of(book, "a", 0).reason(), "no worker has a device 'cpu'; there are none");
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  Effects effects = book.settle(0);
  ASSERT_EQ(effects.messages.size(), 2u);
  EXPECT_EQ(effects.messages[0].what.welcome().worker(), "w");
  EXPECT_EQ(effects.messages[1].what.assign().job().epoch(), 1);
  EXPECT_EQ(effects.messages[1].what.assign().job().spec().prefetch(), 2);
  EXPECT_TRUE(effects.messages[1].acknowledges);  // the epoch must not be given out twice
  ASSERT_EQ(effects.jobs.size(), 1u);

  book.said(1, kinds("j1", 1), 1);
  book.said(1, offer("j1", 1, 1, 0), 1);
  book.said(1, offer("j1", 1, 2, 0), 1);
  effects = book.settle(1);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.start().stage(), 1);
  EXPECT_EQ(effects.messages[0].what.start().cores(0), 0);
  EXPECT_FALSE(effects.messages[0].acknowledges);
  book.said(1, finished("j1", 1, 1), 2);
  effects = book.settle(2);
  ASSERT_EQ(effects.messages.size(), 2u);
  EXPECT_EQ(effects.messages[0].what.known().stage(), 1);
  EXPECT_TRUE(effects.messages[0].acknowledges);
  EXPECT_EQ(effects.messages[1].what.start().stage(), 2);
  ASSERT_EQ(effects.stages.size(), 1u);
  EXPECT_EQ(effects.stages[0].bar.kind(), "build");
  EXPECT_EQ(job_of(book, "a", 2).state(), v1::RUNNING);
  EXPECT_GT(job_of(book, "a", 2).predicted_end(), 2);

  book.said(1, finished("j1", 1, 2), 3);
  book.said(1, ended("j1", 1, v1::DONE), 3);
  effects = book.settle(3);
  EXPECT_EQ(effects.messages.back().what.known().stage(), -1);
  const v1::Job job = job_of(book, "a", 3);
  EXPECT_EQ(job.state(), v1::DONE);
  // Of what ended only what was is told.
  ASSERT_EQ(job.kinds_size(), 1);
  EXPECT_EQ(job.stages_done(0), 2);
  EXPECT_EQ(job.kinds(0).left(), 0);
  EXPECT_EQ(job.kinds(0).usual_seconds(), 0);
}

TEST(Book, ASecondJobWaitsForTheDevice) {
  Book book = one_running();
  ASSERT_TRUE(book.submit(kMe, request("b"), 1).ok());
  book.joined(2, kLocal, 1);
  book.said(2, hello(), 1);
  book.settle(1);
  book.said(2, kinds("j2", 1), 1);
  book.said(2, offer("j2", 1, 1, 1), 1);
  EXPECT_TRUE(book.settle(1).messages.empty());
  const v1::Job job = job_of(book, "b", 1);
  EXPECT_EQ(job.state(), v1::WAITING);
  EXPECT_EQ(job.waiting_for(), "cpu");
  EXPECT_EQ(job.queue_position(), 1);
  EXPECT_EQ(job.worker(), "w-2");
  const v1::Snapshot all = *book.snapshot(kMe, {}, 1);
  EXPECT_EQ(all.pools(1).used(), 1);
  EXPECT_EQ(all.pools(1).utilisation(), 1);
}

TEST(Book, WhatOtherJobsTookIsWhatANewOneIsExpectedToTake) {
  Book book(options("makespan"), {}, 0);
  StageRow row;
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  row.bar.set_job("j1");
  row.bar.set_kind("profile");
  row.bar.set_pool("cpu");
  row.bar.set_ended_at(100);
  book.recall(std::vector<StageRow>(200, row));  // of 100 s each, where 1 s is said to be usual
  row.end = v1::DISTURBED;
  row.bar.set_ended_at(10'000);
  book.recall(std::vector<StageRow>(200, row));  // which says nothing
  book.joined(1, kLocal, 200);
  book.said(1, hello(), 200);
  book.settle(200);
  book.said(1, kinds("j1", 1), 200);
  const double left = job_of(book, "a", 200).predicted_end() - 200;
  EXPECT_GT(left, 450);  // 5 of them
  EXPECT_LT(left, 550);
}

TEST(Book, ADisturbedStageIsOfferedAgainAndTeachesNothing) {
  Book book = one_running();
  v1::FromWorker disturbed = finished("j1", 1, 7);
  disturbed.mutable_finished()->set_end(v1::DISTURBED);
  disturbed.mutable_finished()->set_seconds(100);
  book.said(1, disturbed, 1);
  book.said(1, offer("j1", 1, 8, 1), 1);
  const Effects effects = book.settle(1);
  ASSERT_EQ(effects.messages.size(), 2u);
  EXPECT_EQ(effects.messages[0].what.known().stage(), 7);
  EXPECT_EQ(effects.messages[1].what.start().stage(), 8);
  ASSERT_EQ(effects.stages.size(), 1u);
  EXPECT_EQ(effects.stages[0].end, v1::DISTURBED);
  const v1::Job job = job_of(book, "a", 1);
  EXPECT_EQ(job.stages_done(1), 0);
  EXPECT_LT(job.predicted_end(), 50);
}

TEST(Book, TheSameKeyIsTheSameJob) {
  Book book(options(), {}, 0);
  ASSERT_EQ(book.submit(kMe, request("a", "k"), 0)->job().id(), "j1");
  const auto again = book.submit(kMe, request("a", "k"), 1);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->already_known());
  EXPECT_EQ(again->job().id(), "j1");
  const auto clash = book.submit(kMe, request("a", "other"), 1);
  ASSERT_FALSE(clash.ok());
  EXPECT_EQ(clash.error().message, "there is a job 'a' already, which is queued");
  EXPECT_EQ(book.submit(kMe, request(""), 1)->job().spec().name(), "resnet18");
  EXPECT_EQ(book.submit(kMe, request(""), 1)->job().spec().name(), "resnet18-2");
}

TEST(Book, RefusesWhatMakesNoSense) {
  Book book(options(), {}, 0);
  v1::SubmitRequest bad = request("a");
  bad.mutable_spec()->set_threads(8);
  EXPECT_EQ(book.submit(kMe, bad, 0).error().message,
            "the job asks for 8 threads, this machine has 2 cores");
  bad = request("a");
  bad.mutable_spec()->set_device("cuda");
  bad.mutable_spec()->set_no_wait(true);
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  const auto none = book.submit(kMe, bad, 0);
  EXPECT_EQ(none.error().message, "no worker has a device 'cuda'");
  EXPECT_EQ(none.error().hint, "devices are cpu");
  EXPECT_EQ(book.control(kMe, wish("a", v1::PAUSE), 0).error().message, "there is no job 'a'");
}

TEST(Book, WorkersOfAnotherVersionAreSentAway) {
  Book book(options(), {}, 0);
  book.joined(1, kElsewhere, 0);
  book.said(1, hello("2"), 0);
  const Effects effects = book.settle(0);
  EXPECT_EQ(effects.messages[0].what.refused().why(),
            "the worker is of version 2, the scheduler of 1");
  EXPECT_EQ(effects.close, std::vector<WorkerId>{1});
}

TEST(Book, ALostWorkerIsKilledBeforeItsJobIsGivenOn) {
  Book book = one_running();
  book.joined(2, kLocal, 5);
  book.said(2, hello(), 5);
  EXPECT_EQ(book.settle(5).messages.size(), 1u);
  EXPECT_EQ(book.next_deadline(), 10);
  book.time_passed(10);
  Effects effects = book.settle(10);
  EXPECT_EQ(effects.kill, std::vector<WorkerId>{1});
  EXPECT_NE(effects.messages.back().worker, 2u);
  EXPECT_EQ(job_of(book, "a", 10).reason(), "waits for the process of its worker w to end");
  book.process_ended(1, {}, 10);
  effects = book.settle(10);
  EXPECT_TRUE(effects.kill.empty());
  EXPECT_EQ(effects.messages.back().worker, 2u);
  EXPECT_EQ(effects.messages.back().what.assign().job().epoch(), 2);
  // What the first one still says is not heard, in its own name or in another's.
  book.said(1, finished("j1", 1, 7), 11);
  book.said(2, finished("j1", 1, 7), 11);
  const Effects late = book.settle(11);
  ASSERT_EQ(late.messages.size(), 1u);
  EXPECT_EQ(late.messages[0].what.refused().why(), "epoch 1 of the job is over, it is at 2");
  EXPECT_TRUE(late.stages.empty());
}

TEST(Book, PausedJobsAreGivenNothing) {
  Book book = one_running();
  book.said(1, offer("j1", 1, 8, 0), 1);
  ASSERT_TRUE(book.control(kMe, wish("a", v1::PAUSE), 1).ok());
  EXPECT_TRUE(book.settle(1).messages.empty());
  EXPECT_EQ(book.parked_workers(), 1);
  book.said(1, finished("j1", 1, 7), 2);  // what runs goes on to its end
  book.said(1, offer("j1", 1, 9, 1), 2);
  EXPECT_EQ(book.settle(2).messages.size(), 1u);
  EXPECT_EQ(job_of(book, "a", 2).state(), v1::PAUSED);
  ASSERT_TRUE(book.control(kMe, wish("a", v1::RESUME), 3).ok());
  EXPECT_EQ(book.settle(3).messages.size(), 2u);
}

TEST(Book, StopIsAnOrderToTheWorkerOrToTheNext) {
  Book book = one_running();
  ASSERT_TRUE(book.control(kMe, wish("a", v1::STOP), 1).ok());
  Effects effects = book.settle(1);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.order().wish(), v1::STOP);
  EXPECT_EQ(effects.jobs[0].wish, v1::STOP);
  EXPECT_EQ(job_of(book, "a", 1).reason(), "is being stopped");
  book.left(1, 2);
  book.process_ended(1, {}, 2);
  book.joined(2, kLocal, 2);
  book.said(2, hello(), 2);
  effects = book.settle(2);
  ASSERT_EQ(effects.messages.size(), 3u);
  EXPECT_EQ(effects.messages[1].what.assign().job().epoch(), 2);
  EXPECT_EQ(effects.messages[2].what.order().wish(), v1::STOP);
}

TEST(Book, WhatNobodyHasBegunEndsAtOnce) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request("b"), 0).ok());
  EXPECT_EQ(book.control(kMe, wish("a", v1::STOP), 1)->state(), v1::STOPPED);
  EXPECT_EQ(book.control(kMe, wish("b", v1::CANCEL), 1)->state(), v1::CANCELLED);
  EXPECT_EQ(book.control(kMe, wish("b", v1::STOP), 1).error().message,
            "job 'b' has ended: it is cancelled");
}

TEST(Book, AfterARestartJobsGoOnInANewEpoch) {
  std::vector<JobRow> rows;
  {
    Book book = one_running();
    ASSERT_TRUE(book.submit(kMe, request("b"), 0).ok());
    ASSERT_TRUE(book.control(kMe, wish("b", v1::PAUSE), 0).ok());
    book.said(1, finished("j1", 1, 7), 1);
    rows = book.settle(1).jobs;
  }
  ASSERT_EQ(rows.size(), 2u);
  Book book(options(), rows, 100);
  EXPECT_EQ(job_of(book, "b", 100).state(), v1::PAUSED);
  book.joined(1, kLocal, 100);
  book.said(1, hello(), 100);
  const Effects effects = book.settle(100);
  EXPECT_EQ(effects.messages.back().what.assign().job().id(), "j1");
  EXPECT_EQ(effects.messages.back().what.assign().job().epoch(), 2);
  book.said(1, kinds("j1", 2), 100);
  EXPECT_EQ(job_of(book, "a", 100).stages_done(1), 1);
}

TEST(Book, AJobOnAllCoresIsMeasuredWhileTheHostIsQuiet) {
  Book book(options(), {}, 0);
  v1::SubmitRequest wide = request("wide");
  wide.mutable_spec()->set_threads(2);
  ASSERT_TRUE(book.submit(kMe, wide, 0).ok());
  ASSERT_TRUE(book.submit(kMe, request("other"), 0).ok());
  for (const WorkerId worker : {1u, 2u}) {
    book.joined(worker, kLocal, 0);
    book.said(worker, hello(), 0);
  }
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(2, kinds("j2", 1), 0);
  book.said(2, offer("j2", 1, 1, 0), 0);
  book.said(1, offer("j1", 1, 1, 1), 0);
  Effects effects = book.settle(0);
  ASSERT_EQ(effects.messages.size(), 1u);  // the build of the other alone
  book.said(2, finished("j2", 1, 1), 1);
  effects = book.settle(1);
  ASSERT_EQ(effects.messages.size(), 2u);
  const v1::Start& start = effects.messages[1].what.start();
  EXPECT_EQ(start.job(), "j1");
  EXPECT_EQ(start.cores_size(), 2);
  EXPECT_EQ(start.device(), "cpu:0");
}

TEST(Book, AJobThatNeedsWhatThereIsNotFails) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.said(1, kinds("j1", 1, "cuda"), 0);
  EXPECT_EQ(book.settle(0).messages[0].what.order().wish(), v1::CANCEL);
  EXPECT_EQ(job_of(book, "a", 0).state(), v1::FAILED);
  EXPECT_EQ(job_of(book, "a", 0).reason(),
            "its stage 'profile' needs 'cuda', which this scheduler does not have; there are host, "
            "cpu");
}

TEST(Book, AnotherTunersJobEndsWithItAndComesBackWithItAfterARestart) {
  Book first(options(), {}, 0);
  v1::FromWorker registration;
  *registration.mutable_register_()->mutable_kinds() = kinds("", 0).kinds().kinds();
  registration.mutable_register_()->set_idempotency_key("mine");
  first.joined(1, kElsewhere, 0);
  first.said(1, hello(), 0);
  first.said(1, registration, 0);
  first.said(1, offer("j1", 1, 1, 0), 0);
  Effects effects = first.settle(0);
  ASSERT_EQ(effects.messages.size(), 3u);
  EXPECT_EQ(effects.messages[1].what.known().stage(), -2);
  EXPECT_EQ(effects.messages[2].what.start().stage(), 1);

  Book second(options(), effects.jobs, 5);
  second.joined(1, kElsewhere, 6);
  second.said(1, hello(), 6);
  second.said(1, registration, 6);
  effects = second.settle(6);
  EXPECT_EQ(effects.messages[1].what.known().epoch(), 2);
  second.left(1, 7);
  EXPECT_EQ(job_of(second, "j1", 7).reason(), "waits for its tuner to come back");
  second.time_passed(16);
  EXPECT_EQ(job_of(second, "j1", 16).state(), v1::FAILED);

  Book third(options(), effects.jobs, 10);
  EXPECT_EQ(third.next_deadline(), 20);
  third.time_passed(20);
  EXPECT_EQ(job_of(third, "j1", 20).reason(), "its tuner went away");
}

TEST(Book, WaitsShortlyForTheNextStageOfAJob) {
  BookOptions with = options("greedy");
  with.settle_seconds = 0.002;
  Book book(with, {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request("b"), 0).ok());
  for (const WorkerId worker : {1u, 2u}) {
    book.joined(worker, kLocal, 0);
    book.said(worker, hello(), 0);
  }
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(2, kinds("j2", 1), 0);
  book.said(1, offer("j1", 1, 1, 0), 0);
  book.said(2, offer("j2", 1, 1, 0), 0);
  EXPECT_EQ(book.settle(0).messages.size(), 1u);
  book.said(1, finished("j1", 1, 1), 1);
  EXPECT_EQ(book.settle(1).messages.size(), 1u);  // known, and nothing is given on yet
  EXPECT_EQ(book.next_deadline(), 1.002);
  book.said(1, offer("j1", 1, 2, 0), 1.001);
  const Effects effects = book.settle(1.001);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.start().job(), "j1");
}

}  // namespace
}  // namespace attune::jobs
