#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

const Caller kAnn{.uid = 7, .user = "ann"}, kBob{.uid = 8, .user = "bob"};

std::vector<std::string> ids_of(const v1::PruneReply& reply) {
  std::vector<std::string> ids;
  for (const v1::Job& job : reply.jobs()) ids.push_back(job.id());
  return ids;
}

v1::PruneRequest older_than(double seconds) {
  v1::PruneRequest request;
  request.set_older_than_seconds(seconds);
  return request;
}

// Jobs j1 (ann), j2 (bob), j3 (ann), cancelled at 10, 20 and 30; j4 of the scheduler's user is
// open.
Book with_ended() {
  Book book(options(), {}, 0);
  const std::pair<const Caller*, double> all[] = {{&kAnn, 10}, {&kBob, 20}, {&kAnn, 30}};
  for (const auto& [who, at] : all) {
    const auto reply = book.submit(*who, request("", "key " + std::to_string(at)), 0);
    CHECK(book.control(*who, wish(reply->job().id(), v1::CANCEL), at).ok(), "it can be cancelled");
  }
  CHECK(book.submit(kMe, request("open"), 40).ok(), "a good job");
  book.settle(40);
  return book;
}

TEST(Forget, IsForWhoMayHaveTheJob) {
  Book book = with_ended();
  EXPECT_EQ(ids_of(*book.prune(kBob, older_than(0), 100)), std::vector<std::string>{"j2"});
  EXPECT_EQ(ids_of(*book.prune(kMe, older_than(0), 100)), (std::vector<std::string>{"j1", "j3"}));
  const Effects effects = book.settle(100);
  ASSERT_EQ(effects.forgotten.size(), 3u);
  EXPECT_EQ(effects.forgotten[0].id, "j2");
  EXPECT_EQ(effects.forgotten[0].number, 2);
  EXPECT_EQ(book.snapshot(kMe, {}, 100)->jobs_size(), 1);
  EXPECT_EQ(book.control(kMe, wish("j1", v1::CANCEL), 100).error().message, "there is no job 'j1'");
}

TEST(Forget, OnlyWhatHasEndedLongAgo) {
  Book book = with_ended();
  EXPECT_EQ(ids_of(*book.prune(kMe, older_than(75), 100)), (std::vector<std::string>{"j1", "j2"}));
  EXPECT_EQ(book.prune(kMe, older_than(-1), 100).error().message, "jobs cannot be older than -1 s");
}

TEST(Forget, ADryRunForgetsNothing) {
  Book book = with_ended();
  v1::PruneRequest request = older_than(0);
  request.set_dry_run(true);
  EXPECT_EQ(book.prune(kMe, request, 100)->jobs_size(), 3);
  EXPECT_TRUE(book.settle(100).forgotten.empty());
  EXPECT_EQ(book.prune(kMe, request, 100)->jobs_size(), 3);
}

TEST(Forget, ANumberIsNeverGivenTwice) {
  Book book = with_ended();
  ASSERT_TRUE(book.control(kMe, wish("open", v1::CANCEL), 50).ok());
  EXPECT_EQ(book.prune(kMe, older_than(0), 100)->jobs_size(), 3) << "the newest stays";
  EXPECT_EQ(book.submit(kMe, request("next"), 100)->job().id(), "j5");
  EXPECT_EQ(ids_of(*book.prune(kMe, older_than(0), 100)), std::vector<std::string>{"j4"});
}

TEST(Forget, KeysAndNamesAreFreeAgain) {
  Book book = with_ended();
  const std::string key = "key " + std::to_string(10.0);
  EXPECT_TRUE(book.submit(kAnn, request("", key), 50)->already_known());
  ASSERT_TRUE(book.prune(kMe, older_than(0), 100).ok());
  const auto again = book.submit(kAnn, request("", key), 100);
  EXPECT_FALSE(again->already_known());
  EXPECT_EQ(again->job().id(), "j5");
}

TEST(Forget, ManyAreForgottenSomeAtATime) {
  Book book(options(), {}, 0);
  for (int i = 0; i < 1200; ++i) {
    const auto reply = book.submit(kMe, request(""), 0);
    ASSERT_TRUE(book.control(kMe, wish(reply->job().id(), v1::CANCEL), 0).ok());
  }
  for (const bool dry : {true, false}) {
    v1::PruneRequest request;
    request.set_dry_run(dry);
    int jobs = 0, calls = 0;
    do {
      const auto reply = book.prune(kMe, request, 10);
      ASSERT_TRUE(reply.ok());
      jobs += reply->jobs_size();
      request.set_after(reply->next());
      ++calls;
    } while (request.after() != 0);
    EXPECT_EQ(jobs, 1199);
    EXPECT_EQ(calls, 3);
  }
}

TEST(Forget, FoldersOfAnotherBookAreLeftAlone) {
  Book book = with_ended();
  book.forget({"j1", "j4", "j9", "nonsense"});
  EXPECT_EQ(book.forgotten({"j1", "j2", "j4", "j9", "x", "j", "j1x", "k1"}),
            std::vector<std::string>{"j1"});
  EXPECT_TRUE(Book(options(), {}, 0).forgotten({"j1"}).empty()) << "it never had any";
}

TEST(Forget, AReportThatIsWrittenIsNotKept) {
  Book book = one_running();
  v1::FromWorker end = ended("j1", 1, v1::DONE);
  end.mutable_ended()->set_result_json("{}");
  book.said(1, end, 1);
  EXPECT_EQ(book.settle(1).jobs.at(0).job.result_json(), "{}");
  EXPECT_EQ(job_of(book, "a", 2).result_json(), "{}");
  book.report_is_written("j1");
  EXPECT_EQ(job_of(book, "a", 2).result_json(), "");
  EXPECT_TRUE(book.settle(2).jobs.empty());
}

TEST(Retention, ForgetsTheOldestFirst) {
  const std::vector<EndedJob> jobs = {{"j1", 100, 10}, {"j2", 50, 10}, {"j3", 200, 10}};
  const auto gone = [&](Retention retention, double now) { return overdue(jobs, retention, now); };
  EXPECT_TRUE(gone({}, 300).empty());
  EXPECT_EQ(gone({.seconds = 150}, 220), (std::vector<std::string>{"j2"}));
  EXPECT_EQ(gone({.jobs = 1}, 220), (std::vector<std::string>{"j2", "j1"}));
  EXPECT_EQ(gone({.bytes = 25}, 220), (std::vector<std::string>{"j2"}));
  EXPECT_EQ(gone({.bytes = 0}, 220).size(), 3u);
}

}  // namespace
}  // namespace attune::jobs
