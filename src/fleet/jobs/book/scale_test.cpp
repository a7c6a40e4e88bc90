// What an event costs does not grow with the number of jobs, but where a policy ranks those that
// wait.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

constexpr std::uint64_t kJobs = 2000;

// The first job at worker 1, with a stage that runs; all others wait.
Book many_waiting() {
  Book book(options(), {}, 0);
  for (std::uint64_t i = 0; i < kJobs; ++i) CHECK(book.submit(kMe, request(""), 0).ok(), "good");
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(1, offer("j1", 1, 0, 0), 0);
  book.settle(0);
  return book;
}

// Jobs that were looked at because of what happens in the meantime.
class Looks {
 public:
  explicit Looks(const Book& book) : book_(book), before_(book.jobs_ranked()) {}
  std::uint64_t count() const { return book_.jobs_ranked() - before_; }

 private:
  const Book& book_;
  std::uint64_t before_;
};

TEST(Scale, AStageIsGivenOutWithoutALookAtOtherJobs) {
  Book book = many_waiting();
  const Looks looks(book);
  for (std::int64_t stage = 0; stage < 10; ++stage) {
    book.said(1, finished("j1", 1, stage), 1);
    book.said(1, offer("j1", 1, stage + 1, 0), 1);
    book.time_passed(1);
    EXPECT_EQ(book.settle(1).messages.size(), 2u) << "it is known, and the next may start";
    (void)book.next_deadline();
    (void)book.parked_workers();
  }
  EXPECT_EQ(looks.count(), 0u);
}

TEST(Scale, AWorkerThatIsFreeLooksAtEachJobThatWaitsOnce) {
  Book book = many_waiting();
  const Looks looks(book);
  book.said(1, ended("j1", 1, v1::DONE), 1);
  book.settle(1);
  EXPECT_EQ(looks.count(), kJobs - 1);
}

TEST(Scale, ThoseOfAnotherDeviceAreNotLookedAt) {
  Book book(options(), {}, 0);
  for (std::uint64_t i = 0; i < kJobs; ++i) {
    v1::SubmitRequest other = request("");
    other.mutable_spec()->set_device("cuda");
    ASSERT_TRUE(book.submit(kMe, other, 0).ok());
  }
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  const Looks looks(book);
  for (int i = 0; i < 10; ++i) book.settle(0);
  EXPECT_EQ(looks.count(), 0u);
}

TEST(Scale, ASubmissionLooksAtEachJobThatWaitsOnce) {
  Book book = many_waiting();
  const Looks looks(book);
  const auto reply = book.submit(kMe, request(""), 1);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->job().spec().name(), "resnet18-2001");
  EXPECT_EQ(reply->job().queue_position(), int(kJobs));
  EXPECT_EQ(looks.count(), kJobs);
  EXPECT_EQ(job_of(book, "resnet18-2001", 1).queue_position(), int(kJobs));
}

TEST(Scale, AskingForAJobThatIsNotThereLooksAtNone) {
  Book book = many_waiting();
  const Looks looks(book);
  v1::ListRequest list;
  list.set_job("elsewhere");
  EXPECT_FALSE(book.snapshot(kMe, list, 1).ok());
  list.set_job("j2");
  EXPECT_FALSE(book.snapshot({.uid = 7, .user = "ann"}, list, 1).ok()) << "it is another's";
  EXPECT_EQ(looks.count(), 0u);
}

TEST(Scale, KindsOfStagesThatOthersNameAreBounded) {
  Book book(options(), {}, 0);
  book.joined(1, {.caller = {.uid = 7, .user = "other"}, .by_token = Standing::Tuner}, 0);
  v1::FromWorker says = hello();
  says.mutable_hello()->set_takes_jobs(false);
  book.said(1, says, 0);
  v1::FromWorker registration;
  v1::Register& brings = *registration.mutable_register_();
  constexpr int kKinds = 1000;
  for (int i = 0; i < kKinds; ++i) {
    v1::StageKind& kind = *brings.add_kinds();
    kind.set_name("kind " + std::to_string(i));
    kind.set_pool("host");
    kind.set_amount(1);
  }
  book.said(1, registration, 0);
  for (int i = 0; i < kKinds; ++i) book.said(1, offer("j1", 1, i, i), 0);
  book.settle(0);
  for (int i = 0; i < kKinds; ++i) book.said(1, finished("j1", 1, i), 0), book.settle(0);
  EXPECT_LE(book.groups_of_stages(), 202u);
}

}  // namespace
}  // namespace attune::jobs
