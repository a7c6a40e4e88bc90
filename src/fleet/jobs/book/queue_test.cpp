// Jobs that wait for a worker.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

v1::SubmitRequest request_of(const std::string& name, const std::string& user, double priority,
                             std::int64_t trials = 0) {
  v1::SubmitRequest asked = request(name);
  asked.mutable_spec()->set_user(user);
  asked.mutable_spec()->set_priority(priority);
  asked.mutable_spec()->set_trials(trials);
  return asked;
}

// Names of the jobs that so many workers get that come now.
std::vector<std::string> given_out(Book& book, int workers, double now) {
  for (int i = 1; i <= workers; ++i) {
    book.joined(static_cast<WorkerId>(i), kLocal, now);
    book.said(static_cast<WorkerId>(i), hello(), now);
  }
  std::vector<std::string> names;
  for (const Message& message : book.settle(now).messages) {
    if (message.what.has_assign()) names.push_back(message.what.assign().job().spec().name());
  }
  return names;
}

// A job that took two seconds a trial.
JobRow one_that_was() {
  JobRow row{.number = 1};
  row.job.set_id("j1");
  row.job.set_state(v1::DONE);
  row.job.set_attained_seconds(20);
  *row.job.mutable_spec() = request_of("was", "", 1, 10).spec();
  return row;
}

using Names = std::vector<std::string>;

TEST(Queue, IsOrderedByPriorityAndComing) {
  for (const char* policy : {"makespan", "fair", "sequential"}) {
    Book book(options(policy), {}, 0);
    ASSERT_TRUE(book.submit(kMe, request_of("a", "", 1), 0).ok());
    ASSERT_TRUE(book.submit(kMe, request_of("b", "", 1), 1).ok());
    ASSERT_TRUE(book.submit(kMe, request_of("c", "", 2), 2).ok());
    EXPECT_EQ(job_of(book, "c", 3).queue_position(), 1);
    EXPECT_EQ(job_of(book, "b", 3).queue_position(), 3);
    EXPECT_EQ(given_out(book, 3, 3), (Names{"c", "a", "b"})) << policy;
  }
}

TEST(Queue, LatencyTakesTheShortestFirst) {
  Book book(options("latency"), {one_that_was()}, 0);
  ASSERT_TRUE(book.submit(kMe, request_of("long", "", 1, 500), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("short", "", 1, 50), 1).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("urgent", "", 20, 500), 2).ok());
  EXPECT_EQ(job_of(book, "urgent", 3).queue_position(), 1);
  EXPECT_EQ(job_of(book, "short", 3).queue_position(), 2);
  EXPECT_EQ(job_of(book, "long", 3).queue_position(), 3);
  EXPECT_EQ(given_out(book, 2, 3), (Names{"urgent", "short"}));
}

TEST(Queue, FairShareLetsWhoeverHasNoWorkerGoBeforeWhoHasMany) {
  Book book(options("fair-share"), {}, 0);
  for (const char* name : {"a1", "a2", "a3", "a4"}) {
    ASSERT_TRUE(book.submit(kMe, request_of(name, "ann", 1), 0).ok());
  }
  ASSERT_TRUE(book.submit(kMe, request_of("b1", "bob", 1), 40).ok());
  EXPECT_EQ(given_out(book, 3, 100), (Names{"a1", "b1", "a2"}));
  Book fair(options("fair"), {}, 0);
  for (const char* name : {"a1", "a2", "a3", "b1"}) {
    ASSERT_TRUE(fair.submit(kMe, request_of(name, "", 1), 0).ok());
  }
  EXPECT_EQ(given_out(fair, 3, 100), (Names{"a1", "a2", "a3"}));
}

TEST(Queue, FairShareLetsJobsGrowOld) {
  Book book(options("fair-share"), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request_of("low", "ann", 1), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("high", "bob", 4), 90).ok());
  EXPECT_EQ(job_of(book, "low", 100).queue_position(), 1);
  EXPECT_EQ(job_of(book, "high", 1000).queue_position(), 1);  // it grows older faster
}

TEST(Queue, UsersAboveTheirQuotaComeLast) {
  BookOptions with = options("fair-share");
  with.quotas = {{"ann", 1}};
  Book book(with, {}, 0);
  ASSERT_TRUE(book.submit(kMe, request_of("a1", "ann", 100), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("a2", "ann", 100), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("b1", "bob", 1), 99).ok());
  EXPECT_EQ(given_out(book, 3, 100), (Names{"a1", "b1", "a2"}));
}

TEST(Queue, PredictsWhenAJobEndsThatHasNotBegun) {
  Book book(options(), {one_that_was()}, 0);
  ASSERT_TRUE(book.submit(kMe, request_of("a", "", 1), 0).ok());
  EXPECT_EQ(given_out(book, 1, 0).size(), 1u);
  ASSERT_TRUE(book.submit(kMe, request_of("b", "", 1, 30), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("c", "", 1, 5), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("d", "", 1), 0).ok());
  ASSERT_TRUE(book.submit(kMe, request_of("e", "", 1, 5), 0).ok());
  EXPECT_EQ(job_of(book, "b", 0).predicted_end(), 0);  // nobody knows how long the first takes
  book.said(1, kinds("j2", 1), 0);
  const double first = job_of(book, "a", 0).predicted_end();
  EXPECT_GT(first, 0);
  EXPECT_DOUBLE_EQ(job_of(book, "b", 0).predicted_end(), first + 60);
  EXPECT_DOUBLE_EQ(job_of(book, "c", 0).predicted_end(), first + 70);
  EXPECT_EQ(job_of(book, "d", 0).predicted_end(), 0);  // of unknown length
  EXPECT_EQ(job_of(book, "e", 0).predicted_end(), 0);  // behind it
}

TEST(Queue, AKindThatTakesTheWholePoolIsPredictedWithAllOfIt) {
  BookOptions with = options();
  with.pools = {{"host", {{0}, {1}, {2}, {3}}}, {"cpu", {{4}}}};
  double ends[2];
  for (const int amount : {0, 1}) {
    Book book(with, {}, 0);
    for (const char* name : {"a", "b"}) ASSERT_TRUE(book.submit(kMe, request(name), 0).ok());
    EXPECT_EQ(given_out(book, 2, 0).size(), 2u);
    for (const WorkerId worker : {1u, 2u}) {
      v1::FromWorker said = kinds("j" + std::to_string(worker), 1);
      said.mutable_kinds()->mutable_kinds(0)->set_amount(amount);
      said.mutable_kinds()->mutable_kinds(0)->set_left(100);
      book.said(worker, said, 0);
    }
    ends[amount] = job_of(book, "a", 0).predicted_end();
  }
  EXPECT_NEAR(ends[0], 200, 20);  // one after the other
  EXPECT_NEAR(ends[1], 105, 10);  // side by side
}

TEST(Queue, NamesThatLookLikeNumbersOfJobsAreRefused) {
  Book book(options(), {}, 0);
  const auto bad = book.submit(kMe, request("j1"), 0);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "the name 'j1' looks like the number of a job");
  EXPECT_EQ(bad.error().hint, "give another --name");
  EXPECT_TRUE(book.submit(kMe, request("j"), 0).ok());
  EXPECT_TRUE(book.submit(kMe, request("j1b"), 0).ok());
  v1::SubmitRequest unnamed = request("");
  unnamed.mutable_spec()->set_model("/models/j7.onnx");
  EXPECT_EQ(book.submit(kMe, unnamed, 0)->job().spec().name(), "model-j7");
}

}  // namespace
}  // namespace attune::jobs
