// Workers elsewhere whose connection, or scheduler, is gone for a while.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

v1::FromWorker hello_again(const std::string& job, std::int64_t epoch) {
  v1::FromWorker message = hello();
  v1::Holding& holding = *message.mutable_hello()->add_holds();
  holding.set_job(job);
  holding.set_epoch(epoch);
  return message;
}

// What is on the disk when worker 1, elsewhere, measures stage 7 of job a, and b waits.
std::vector<JobRow> kept_while_one_measures() {
  Book book(options(), {}, 0);
  CHECK(book.submit(kMe, request("a"), 0).ok() && book.submit(kMe, request("b"), 0).ok(),
        "good jobs");
  std::map<std::int64_t, JobRow> disk;
  const auto settle = [&] {
    Effects effects = book.settle(0);
    for (const JobRow& row : effects.jobs) disk[row.number] = row;
    return effects;
  };
  book.joined(1, kElsewhere, 0);
  book.said(1, hello(), 0);
  settle();
  book.said(1, kinds("j1", 1), 0);
  book.said(1, offer("j1", 1, 7, 1), 0);
  const Effects effects = settle();
  // It may only start when that is on the disk.
  CHECK(effects.messages.size() == 1 && effects.messages[0].acknowledges, "a start");
  std::vector<JobRow> rows;
  for (const auto& [number, row] : disk) rows.push_back(row);
  return rows;
}

// Worker 2, local, takes b up and wants to measure; what it hears.
Effects another_measures(Book& book, double now) {
  book.joined(2, kLocal, now);
  book.said(2, hello(), now);
  book.settle(now);
  book.said(2, kinds("j2", 1), now);
  book.said(2, offer("j2", 1, 1, 1), now);
  return book.settle(now);
}

TEST(BookHolds, AfterARestartNobodyGetsWhatAWorkerElsewhereHolds) {
  Book book(options(), kept_while_one_measures(), 100);
  EXPECT_EQ(book.snapshot(kMe, {}, 100)->pools(1).used(), 1);
  EXPECT_EQ(job_of(book, "a", 100).reason(), "waits for its worker to come back");
  EXPECT_TRUE(another_measures(book, 101).messages.empty());
  EXPECT_EQ(job_of(book, "a", 101).epoch(), 1);
  // It does not come back.
  EXPECT_EQ(book.next_deadline(), 110);
  book.time_passed(110);
  const Effects effects = book.settle(110);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.start().job(), "j2");
  // Too late: what it brings is refused.
  book.joined(3, kElsewhere, 111);
  book.said(3, hello_again("j1", 1), 111);
  book.said(3, finished("j1", 1, 7), 111);
  const Effects late = book.settle(111);
  ASSERT_GE(late.messages.size(), 3u);
  EXPECT_EQ(late.messages[1].what.refused().why(), "the worker was away for too long");
  EXPECT_EQ(late.messages[2].what.refused().stage(), 7);
  EXPECT_TRUE(late.stages.empty());
}

TEST(BookHolds, AWorkerElsewhereGoesOnInItsEpochAfterARestart) {
  Book book(options(), kept_while_one_measures(), 100);
  book.joined(5, kElsewhere, 103);
  book.said(5, hello_again("j1", 1), 103);
  book.said(5, kinds("j1", 1), 103);
  EXPECT_EQ(book.settle(103).messages.size(), 1u);  // welcome, and no other job
  EXPECT_TRUE(another_measures(book, 104).messages.empty());
  EXPECT_EQ(job_of(book, "a", 104).state(), v1::RUNNING);
  book.said(5, finished("j1", 1, 7), 105);
  const Effects effects = book.settle(105);
  ASSERT_EQ(effects.messages.size(), 2u);
  EXPECT_EQ(effects.messages[0].what.known().stage(), 7);
  EXPECT_EQ(effects.messages[1].what.start().job(), "j2");
  ASSERT_EQ(effects.stages.size(), 1u);
  EXPECT_EQ(effects.stages[0].epoch, 1);
  // Nothing is left to wait for.
  book.said(5, ended("j1", 1, v1::DONE), 106);
  book.settle(106);
  EXPECT_EQ(job_of(book, "a", 106).stages_done(0), 1);
}

TEST(BookHolds, WhatWasWrittenBeforeARestartIsKnownAndNotCountedAgain) {
  Book book(options(), kept_while_one_measures(), 100);
  StageRow row{.epoch = 1, .stage = 6};
  row.bar.set_job("j1");
  row.bar.set_kind("build");
  book.recall({row});
  book.joined(5, kElsewhere, 101);
  book.said(5, hello_again("j1", 1), 101);
  book.said(5, kinds("j1", 1), 101);
  book.said(5, finished("j1", 1, 6), 101);
  const Effects effects = book.settle(101);
  EXPECT_EQ(effects.messages.back().what.known().stage(), 6);
  EXPECT_TRUE(effects.stages.empty());
}

TEST(BookHolds, AStartThatWasNotHeardIsSaidAgain) {
  Book book(options(), kept_while_one_measures(), 100);
  book.joined(5, kElsewhere, 101);
  book.said(5, hello_again("j1", 1), 101);
  book.said(5, kinds("j1", 1), 101);
  book.said(5, offer("j1", 1, 7, 1), 101);
  const Effects effects = book.settle(101);
  ASSERT_EQ(effects.messages.size(), 2u);
  EXPECT_EQ(effects.messages[1].what.start().stage(), 7);
  EXPECT_EQ(effects.messages[1].what.start().cores(0), 1);
}

TEST(BookHolds, ABrokenConnectionIsMendedWithinTheLease) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request("b"), 0).ok());
  book.joined(1, kElsewhere, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(1, offer("j1", 1, 7, 1), 0);
  book.said(1, offer("j1", 1, 8, 0), 0);
  book.said(1, offer("j1", 1, 9, 0), 0);
  EXPECT_EQ(book.settle(0).messages.size(), 2u);
  book.left(1, 1);
  EXPECT_EQ(book.snapshot(kMe, {}, 1)->pools(1).used(), 1);
  book.joined(2, kElsewhere, 2);
  book.said(2, hello_again("j1", 1), 2);
  book.said(2, finished("j1", 1, 8), 2);
  book.said(2, offer("j1", 1, 9, 0), 2);
  const Effects effects = book.settle(2);
  ASSERT_EQ(effects.messages.size(), 3u);
  EXPECT_EQ(effects.messages[1].what.known().stage(), 8);
  EXPECT_EQ(effects.messages[2].what.start().stage(), 9);
  // Gone for good.
  book.left(2, 3);
  book.time_passed(12);
  EXPECT_EQ(book.snapshot(kMe, {}, 12)->pools(1).used(), 0);
  EXPECT_EQ(job_of(book, "a", 12).reason(), "no worker has a device 'cpu'; there are none");
}

TEST(BookHolds, WhatSomebodyWishedMeanwhileIsSaidToTheWorkerThatComesBack) {
  Book book(options(), kept_while_one_measures(), 100);
  ASSERT_TRUE(book.control(kMe, wish("a", v1::CANCEL), 101).ok());
  EXPECT_EQ(book.snapshot(kMe, {}, 101)->pools(1).used(), 1);
  book.joined(5, kElsewhere, 102);
  book.said(5, hello_again("j1", 1), 102);
  EXPECT_EQ(book.settle(102).messages[1].what.order().wish(), v1::CANCEL);
  Book alone(options(), kept_while_one_measures(), 100);
  ASSERT_TRUE(alone.control(kMe, wish("a", v1::CANCEL), 101).ok());
  alone.time_passed(110);
  EXPECT_EQ(job_of(alone, "a", 110).state(), v1::CANCELLED);
}

}  // namespace
}  // namespace attune::jobs
