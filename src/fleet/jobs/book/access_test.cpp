#include "fleet/jobs/book/access.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

const Caller kAnn{.uid = 7, .user = "ann"}, kBob{.uid = 8, .user = "bob"};

// The table once more, read across: scheduler, owner, other, worker, tuner.
TEST(Access, IsAsTheTableSays) {
  const std::map<Right, std::string> expected = {
      {Right::Submit, "yyy--"},     {Right::NameUser, "y----"},    {Right::NamePaths, "y----"},
      {Right::Upload, "yyy--"},     {Right::SeeThatItIs, "yyy--"}, {Right::SeeDetails, "yy---"},
      {Right::Control, "yy---"},    {Right::Fetch, "yy---"},       {Right::WorkerToken, "y----"},
      {Right::TunerToken, "yyy--"}, {Right::TakeJobs, "---y-"},    {Right::Register, "---yy"},
      {Right::Prune, "yy---"}};
  std::set<Right> seen;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(seen.insert(rule.right).second) << rule.words;
    std::string row;
    for (const Standing standing : kStandings) row += may(standing, rule.right) ? 'y' : '-';
    EXPECT_EQ(row, expected.at(rule.right)) << rule.words;
  }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(Access, StandingComesFromTheUser) {
  v1::Job job;
  job.set_uid(7);
  EXPECT_EQ(standing_of(kMe, 0), Standing::Scheduler);
  EXPECT_EQ(standing_of(kAnn, 0), Standing::Other);
  EXPECT_EQ(standing_of(kMe, job, 0), Standing::Scheduler);
  EXPECT_EQ(standing_of(kAnn, job, 0), Standing::Owner);
  EXPECT_EQ(standing_of(kBob, job, 0), Standing::Other);
}

TEST(Access, JobsAreOfWhoSubmitsThem) {
  Book book(options(), {}, 0);
  EXPECT_EQ(book.submit(kAnn, request("a", "key"), 0)->job().spec().user(), "ann");
  EXPECT_EQ(book.submit(kAnn, request("a", "key"), 0)->job().id(), "j1") << "the same key";
  EXPECT_EQ(book.submit(kBob, request("a", "key"), 0)->job().id(), "j2")
      << "names and keys are their users' own";
  v1::SubmitRequest named = request("b");
  named.mutable_spec()->set_user("ann");
  EXPECT_EQ(book.submit(kBob, named, 0).error().message,
            "the job is said to be ann's, but bob submits it");
  EXPECT_EQ(book.submit(kMe, named, 0)->job().spec().user(), "ann");
  const Effects effects = book.settle(0);
  std::map<std::string, std::uint32_t> uids;
  for (const JobRow& row : effects.jobs) uids[row.job.id()] = row.job.uid();
  EXPECT_EQ(uids, (std::map<std::string, std::uint32_t>{{"j1", 7}, {"j2", 8}, {"j3", 0}}));
}

TEST(Access, OnlyOwnersAndTheSchedulersUserHaveAJob) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kAnn, request("a"), 0).ok());
  v1::ListRequest one;
  one.set_job("j1");
  for (const Caller& who : {kAnn, kMe}) {
    EXPECT_TRUE(book.snapshot(who, one, 0).ok());
    EXPECT_TRUE(book.control(who, wish("a", v1::PAUSE), 0).ok()) << "by its name";
    EXPECT_TRUE(book.control(who, wish("j1", v1::RESUME), 0).ok());
    EXPECT_EQ(book.fetched(who, "j1").error().message, "job 'j1' has not ended");
  }
  EXPECT_EQ(book.snapshot(kBob, one, 0).error().message, "job 'j1' is ann's");
  EXPECT_EQ(book.control(kBob, wish("j1", v1::CANCEL), 0).error().message, "job 'j1' is ann's");
  EXPECT_EQ(book.control(kBob, wish("a", v1::CANCEL), 0).error().message, "there is no job 'a'");
  EXPECT_EQ(book.fetched(kBob, "j1").error().message, "job 'j1' is ann's");
  ASSERT_TRUE(book.control(kAnn, wish("a", v1::CANCEL), 0).ok());
  EXPECT_EQ(*book.fetched(kAnn, "a"), "j1");
}

TEST(Access, OthersSeeThatAJobIsThere) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("a");
  asked.mutable_spec()->set_model("secret");
  asked.mutable_spec()->set_options_json("{}");
  ASSERT_TRUE(book.submit(kAnn, asked, 0).ok());
  const v1::Job seen = book.snapshot(kBob, {}, 0)->jobs(0);
  EXPECT_EQ(seen.spec().user(), "ann");
  EXPECT_EQ(seen.state(), v1::QUEUED);
  EXPECT_EQ(seen.spec().name(), "j1");
  EXPECT_EQ(seen.spec().model() + seen.spec().options_json() + seen.reason(), "");
  EXPECT_EQ(book.snapshot(kAnn, {}, 0)->jobs(0).spec().model(), "secret");
}

TEST(Access, OthersNameNoPaths) {
  Book book(options(), {}, 0);
  const auto refusal = [&](const Caller& who, const auto& change) {
    v1::SubmitRequest asked = request("");
    change(*asked.mutable_spec());
    const auto reply = book.submit(who, asked, 0);
    return reply.ok() ? "" : reply.error().message;
  };
  const std::string no = "the scheduler opens no files of ann by their paths";
  const auto by_model = [](v1::JobSpec& spec) { spec.set_model("/home/x.onnx"); };
  const auto by_output = [](v1::JobSpec& spec) { spec.set_output("/home/x.attune"); };
  EXPECT_EQ(refusal(kAnn, by_model), no);
  EXPECT_EQ(refusal(kAnn, by_output), no);
  EXPECT_EQ(refusal(kMe, by_model), "");
  EXPECT_EQ(refusal(kMe, by_output), "");
  const std::string sent = "7-0123456789abcdef0123456789abcdef";
  EXPECT_EQ(refusal(kAnn, [&](v1::JobSpec& spec) { spec.set_files(sent); }), "");
  EXPECT_EQ(refusal(kBob, [&](v1::JobSpec& spec) { spec.set_files(sent); }),
            "'" + sent + "' are no files that bob has sent");
  EXPECT_FALSE(is_upload_of(7, "7-"));
  EXPECT_FALSE(is_upload_of(7, "7-../3456789abcdef0123456789abcdef0"));
  EXPECT_FALSE(is_upload_of(7, "77-0123456789abcdef0123456789abcdef"));
}

TEST(Access, JobsOfOneOtherUserAreBounded) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked;
  asked.mutable_spec()->set_model("m");
  for (int i = 0; i < 1000; ++i) {
    asked.mutable_spec()->set_name("n" + std::to_string(i));
    ASSERT_TRUE(book.submit(kAnn, asked, 0).ok());
  }
  asked.mutable_spec()->set_name("more");
  EXPECT_EQ(book.submit(kAnn, asked, 0).error().message,
            "ann has 1000 jobs already that have not ended");
  EXPECT_TRUE(book.submit(kBob, asked, 0).ok());
  EXPECT_TRUE(book.submit(kMe, asked, 0).ok());
}

std::string refusal_of(Book& book, double now) {
  for (const Message& message : book.settle(now).messages) {
    if (message.what.has_refused()) return message.what.refused().why();
  }
  return "";
}

TEST(Access, WorkersNeedATokenOrTheJobThatTheyHave) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a"), 0).ok());
  book.joined(1, {.caller = kMe}, 0);
  book.said(1, hello(), 0);
  EXPECT_EQ(refusal_of(book, 0),
            "the worker has no token that is good; 'attune scheduler token' gives out one");
  EXPECT_FALSE(book.knows_worker(1));
  book.joined(2, {.caller = kAnn, .by_token = Standing::Tuner}, 0);
  book.said(2, hello(), 0);
  EXPECT_EQ(refusal_of(book, 0), "the token is a tuner's, which is given no jobs of others");
  book.joined(3, kElsewhere, 0);
  book.said(3, hello(), 0);
  EXPECT_EQ(refusal_of(book, 0), "");
  book.left(3, 0);
  v1::FromWorker again = hello();
  v1::Holding& holding = *again.mutable_hello()->add_holds();
  holding.set_job("j1");
  holding.set_epoch(1);
  v1::FromWorker liar = again;
  liar.mutable_hello()->set_secret("a guess");
  book.joined(4, {.caller = kMe}, 0);
  book.said(4, liar, 0);
  EXPECT_EQ(refusal_of(book, 0), "the worker was away for too long");
  book.joined(5, {.caller = kAnn}, 0);
  book.said(5, again, 0);
  EXPECT_EQ(refusal_of(book, 0), "the worker was away for too long") << "another user";
  book.joined(6, kElsewhere, 0);
  book.said(6, liar, 0);
  EXPECT_EQ(refusal_of(book, 0), "another worker has the job") << "a token of its own";
  book.joined(7, {.caller = kMe}, 0);
  book.said(7, again, 0);
  EXPECT_EQ(refusal_of(book, 0), "");
  EXPECT_EQ(job_of(book, "a", 0).epoch(), 1) << "it goes on";
}

TEST(Access, TunersBringJobsInTheirUsersName) {
  Book book(options(), {}, 0);
  v1::FromWorker brings = hello();
  brings.mutable_hello()->set_takes_jobs(false);
  book.joined(1, {.caller = kAnn, .by_token = Standing::Tuner}, 0);
  book.said(1, brings, 0);
  v1::FromWorker message;
  message.mutable_register_()->mutable_spec()->set_name("script");
  message.mutable_register_()->mutable_spec()->set_user("bob");
  book.said(1, message, 0);
  EXPECT_EQ(refusal_of(book, 0), "the job is said to be bob's, but ann brings it");
  message.mutable_register_()->mutable_spec()->clear_user();
  book.said(1, message, 0);
  EXPECT_EQ(refusal_of(book, 0), "");
  EXPECT_EQ(job_of(book, "script", 0).uid(), 7u);
  EXPECT_EQ(job_of(book, "script", 0).spec().user(), "ann");
}

}  // namespace
}  // namespace attune::jobs
