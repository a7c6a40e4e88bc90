// What becomes of jobs whose workers are lost, cannot begin, or have nothing to do.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

TEST(Book, AJobThatIsHandedBackIsGivenOutAgainLater) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  v1::FromWorker back = ended("j1", 1, v1::QUEUED);
  back.mutable_ended()->set_reason("process 17 still has its folder");
  book.said(1, back, 1);
  Effects effects = book.settle(1);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.known().stage(), -1);
  EXPECT_EQ(job_of(book, "a", 1).state(), v1::QUEUED);
  EXPECT_EQ(job_of(book, "a", 1).reason(), "process 17 still has its folder");
  EXPECT_EQ(book.next_deadline(), 11);
  book.said(1, beat(), 9);
  EXPECT_TRUE(book.settle(9).messages.empty());
  book.time_passed(11);
  effects = book.settle(11);
  ASSERT_EQ(effects.messages.size(), 1u);
  EXPECT_EQ(effects.messages[0].what.assign().job().epoch(), 2);
  EXPECT_EQ(job_of(book, "a", 11).reason(), "");
}

TEST(Book, TimeInWhichNobodyCouldBeHeardDoesNotCountAgainstALease) {
  Book book = one_running();
  EXPECT_EQ(book.next_deadline(), 10);
  book.stood_still(25);
  EXPECT_EQ(book.next_deadline(), 35);
  book.time_passed(34);
  EXPECT_TRUE(book.knows_worker(1));
  book.time_passed(35);
  EXPECT_FALSE(book.knows_worker(1));
}

TEST(Book, NorAgainstAWorkerThatMayComeBack) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  book.joined(1, kElsewhere, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.left(1, 2);
  EXPECT_EQ(book.next_deadline(), 10);
  book.stood_still(25);
  book.time_passed(34);
  EXPECT_EQ(job_of(book, "a", 34).reason(), "waits for its worker to come back");
  book.time_passed(35);
  EXPECT_NE(job_of(book, "a", 35).reason(), "waits for its worker to come back");
}

TEST(Book, TellsAWorkerOfTheDevices) {
  BookOptions with = options();
  with.pools = {{"host", {{0}}}, {"cpu", {{1, 2}, {3, 4}, {5, 6}}}};
  with.cores_kept = "affinity";
  Book book(with, {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  const Effects effects = book.settle(0);
  EXPECT_EQ(effects.messages.back().what.assign().devices(), 3);
  EXPECT_EQ(effects.messages.back().what.assign().device_cores(), 2);
  const v1::Snapshot snapshot = *book.snapshot(kMe, {}, 0);
  EXPECT_EQ(snapshot.pools(1).cores(), 2);
  EXPECT_EQ(snapshot.cores_kept(), "affinity");
}

TEST(Book, AJobWhoseGoalIsMetHasEnded) {
  Book book(options(), {}, 0);
  v1::SubmitRequest known = request("a", "key");
  known.set_known_json("{}");
  known.set_known_ms(1.5);
  const auto reply = book.submit(kMe, known, 1);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->job().state(), v1::DONE);
  EXPECT_EQ(reply->job().best_ms(), 1.5);
  EXPECT_EQ(reply->job().reason(), "the records meet its goal already");
  book.joined(1, kLocal, 1);
  book.said(1, hello(), 1);
  const Effects effects = book.settle(1);
  EXPECT_EQ(effects.messages.size(), 1u) << "welcome, and no job";
  ASSERT_EQ(effects.jobs.size(), 1u);
  EXPECT_EQ(effects.jobs[0].job.result_json(), "{}");
}

}  // namespace
}  // namespace attune::jobs
