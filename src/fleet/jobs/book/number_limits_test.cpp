// Whatever others say to a book, the next one believes the rows that come of it.
#include "fleet/jobs/book/number_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

const Caller kAnn{.uid = 7, .user = "ann"};

// What the book wants written, and what the next one says of it.
std::string said_of_rows(Book& book, double now) {
  std::map<std::int64_t, JobRow> disk;
  return put_on_disk(book.settle(now), disk);
}

TEST(NumberLimits, AKnownLatencyIsOne) {
  Book book(options(), {}, 0);
  v1::SubmitRequest known = request("a");
  known.set_known_json("x");
  for (const double ms : {-1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    known.set_known_ms(ms);
    const auto reply = book.submit(kAnn, known, 0);
    ASSERT_FALSE(reply.ok()) << ms;
    EXPECT_TRUE(reply.error().message.starts_with("the known latency is ")) << ms;
  }
  known.set_known_ms(-1);
  EXPECT_EQ(book.submit(kAnn, known, 0).error().message,
            "the known latency is -1 ms, must be from 0 to 1000000000000");
  EXPECT_EQ(book.snapshot(kMe, {}, 0)->jobs_size(), 0);
  known.set_known_ms(1.5);
  ASSERT_TRUE(book.submit(kAnn, known, 0).ok());
  EXPECT_EQ(said_of_rows(book, 1), "");
}

TEST(NumberLimits, ProgressIsTakenWithinThem) {
  Book book = one_running();
  v1::FromWorker message = progress("j1", 1, 16);
  message.mutable_progress()->set_best_ms(2);
  message.mutable_progress()->set_default_ms(kMostAmount);
  book.said(1, message, 1);
  for (const double ms : {1e300, 1.1e12, -1.0}) {
    message.mutable_progress()->set_best_ms(ms);
    message.mutable_progress()->set_default_ms(ms);
    book.said(1, message, 1);
  }
  EXPECT_EQ(said_of_rows(book, 1), "");
  EXPECT_EQ(job_of(book, "a", 1).best_ms(), 2);
  EXPECT_EQ(job_of(book, "a", 1).default_ms(), kMostAmount);
}

TEST(NumberLimits, TheTimeOfAllStagesStopsThere) {
  JobRow row{.number = 1};
  row.job.set_id("j1");
  row.job.mutable_spec()->set_name("a");
  row.job.mutable_spec()->set_priority(1);
  row.job.mutable_spec()->set_prefetch(1);
  row.job.mutable_spec()->set_device("cpu");
  row.job.set_attained_seconds(kMostAmount);
  Book book(options(), {row}, 0);
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(1, offer("j1", 1, 7, 1), 0);
  book.settle(0);
  book.said(1, finished("j1", 1, 7), 1);
  EXPECT_EQ(said_of_rows(book, 1), "");
  EXPECT_EQ(job_of(book, "a", 1).attained_seconds(), kMostAmount);
}

TEST(NumberLimits, KindsOfOneNameDoNotCountStagesTwice) {
  Book book = one_running();
  book.said(1, finished("j1", 1, 7), 1);
  v1::FromWorker twins = kinds("j1", 1);
  for (v1::StageKind& kind : *twins.mutable_kinds()->mutable_kinds()) {
    kind.set_name("profile");
    kind.set_pool("cpu");
  }
  for (int i = 0; i < 100; ++i) book.said(1, twins, 1);
  EXPECT_EQ(said_of_rows(book, 1), "");
  const v1::Job job = job_of(book, "a", 1);
  EXPECT_EQ(job.stages_done(0) + job.stages_done(1), 1);
}

TEST(NumberLimits, StrikesStopThere) {
  JobRow row{.number = 1};
  row.job.set_id("j1");
  row.job.mutable_spec()->set_priority(1);
  row.job.mutable_spec()->set_prefetch(1);
  row.job.mutable_strikes()->set_stuck(kMostStrikes);
  row.job.mutable_strikes()->set_crashed(kMostStrikes);
  count_stuck(*row.job.mutable_strikes(), "profile", 600);
  ASSERT_TRUE(count_death(*row.job.mutable_strikes(), {.cause = WorkerDeath::Cause::Crashed}));
  EXPECT_TRUE(check_row(row).ok());
}

// Each stage that runs takes another unit there, though the pool has one.
TEST(NumberLimits, UnitsBeyondThePoolAreNumberedSoFar) {
  BookOptions with = options("unscheduled");
  with.pools = {{"host", {{0}}}, {"gpu", std::vector<std::vector<int>>(kMostUnits)}};
  Book book(with, {}, 0);
  v1::SubmitRequest asked = request("a");
  asked.mutable_spec()->set_device("gpu");
  ASSERT_TRUE(book.submit(kMe, asked, 0).ok());
  v1::FromWorker worker = hello();
  worker.mutable_hello()->set_devices(0, "gpu");
  book.joined(1, kElsewhere, 0);
  book.said(1, worker, 0);
  book.settle(0);
  v1::FromWorker all = kinds("j1", 1, "gpu");
  all.mutable_kinds()->mutable_kinds(1)->set_amount(0);
  book.said(1, all, 0);
  for (int stage = 0; stage <= kLastUnit / kMostUnits; ++stage) {
    book.said(1, offer("j1", 1, stage, 1), 0);
  }
  std::map<std::int64_t, JobRow> disk;
  const Effects effects = book.settle(0);
  EXPECT_EQ(put_on_disk(effects, disk), "");
  EXPECT_EQ(disk.at(1).job.hold().stages_size(), kLastUnit / kMostUnits);
  EXPECT_EQ(effects.messages.front().what.refused().why(), "100 stages run or wait already");
}

}  // namespace
}  // namespace attune::jobs
