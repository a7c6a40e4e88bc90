// What users may take of a scheduler that is another's.
#include <gtest/gtest.h>

#include <optional>

#include "fleet/jobs/book/book_testing.h"
#include "fleet/jobs/book/row_checks.h"
#include "fleet/jobs/book/user_limits.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

const Caller kAnn{.uid = 7, .user = "ann"}, kBob{.uid = 8, .user = "bob"};
const Pass kAnnsTuner{.caller = kAnn, .by_token = Standing::Tuner};

std::string said(const Result<v1::SubmitReply>& reply) {
  return reply.ok() ? "" : reply.error().message;
}

v1::FromWorker registration(const std::string& name, int kinds = 1) {
  v1::FromWorker message;
  v1::Register& brings = *message.mutable_register_();
  brings.mutable_spec()->set_name(name);
  brings.set_idempotency_key(name);
  for (int i = 0; i < kinds; ++i) {
    brings.add_kinds()->set_name("kind " + std::to_string(i));
    brings.mutable_kinds(i)->set_pool("cpu");
    brings.mutable_kinds(i)->set_amount(1);
    brings.mutable_kinds(i)->set_left(-1);
  }
  return message;
}

// Tuners of ann, and what they are told.
class Tuners : public ::testing::Test {
 protected:
  void connect(WorkerId id, double now = 0) {
    book_.joined(id, kAnnsTuner, now);
    v1::FromWorker message = hello();
    message.mutable_hello()->set_takes_jobs(false);
    book_.said(id, message, now);
    book_.settle(now);
  }
  // The last answer.
  std::string answer(WorkerId id, const v1::FromWorker& message, double now = 0) {
    book_.said(id, message, now);
    const Effects effects = book_.settle(now);
    for (const StageRow& row : effects.stages) EXPECT_TRUE(check_row(row).ok());
    if (effects.messages.empty()) return "";
    const v1::ToWorker& last = effects.messages.back().what;
    if (last.has_refused()) return last.refused().why();
    return last.has_start() ? "start" : last.has_known() ? "known" : "something else";
  }

  Book book_{options(), {}, 0};
};

TEST(Others, AskForNoMoreThanTheyMay) {
  Book book(options(), {}, 0);
  const auto refusal = [&](const Caller& who, const auto& change) {
    v1::SubmitRequest asked = request("");
    change(*asked.mutable_spec());
    return said(book.submit(who, asked, 0));
  };
  const auto urgent = [](v1::JobSpec& spec) { spec.set_priority(11); };
  const auto wide = [](v1::JobSpec& spec) { spec.set_prefetch(17); };
  const auto lengthy = [](v1::JobSpec& spec) { spec.set_seconds(604'801); };
  EXPECT_EQ(refusal(kAnn, urgent),
            "the priority is 11, must be at most 10 on another user's scheduler");
  EXPECT_EQ(refusal(kAnn, wide),
            "the job wants 17 batches in flight, may have at most 16 on another user's scheduler");
  EXPECT_EQ(refusal(kAnn, lengthy),
            "the budget is 604801 s, must be at most 604800 on another user's scheduler");
  EXPECT_EQ(refusal(kMe, urgent) + refusal(kMe, wide) + refusal(kMe, lengthy), "");
  EXPECT_EQ(refusal(kAnn, [](v1::JobSpec& spec) { spec.set_priority(10); }), "");
}

// Jobs that were submitted and cancelled at once are remembered, too.
TEST(Others, DescribeTheirJobsInSoManyBytes) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("");
  asked.mutable_spec()->set_options_json(std::string(wire::kLargestSpec - 1000, 'x'));
  std::string refused;
  int submitted = 0;
  for (; refused.empty() && submitted < 1000; ++submitted) {
    const auto reply = book.submit(kAnn, asked, 0);
    refused = said(reply);
    if (reply.ok()) (void)book.control(kAnn, wish(reply->job().id(), v1::CANCEL), 0);
  }
  EXPECT_TRUE(refused.starts_with("the jobs of ann take 33")) << refused;
  EXPECT_TRUE(refused.ends_with(" bytes to describe already, may take 33554432 in all")) << refused;
  EXPECT_EQ(submitted, 65);
  EXPECT_EQ(said(book.submit(kBob, asked, 0)), "");
  EXPECT_EQ(said(book.submit(kMe, asked, 0)), "");
  ASSERT_TRUE(book.prune(kAnn, {}, 0).ok());
  EXPECT_EQ(said(book.submit(kAnn, asked, 0)), "");
}

// However many users somebody can be.
TEST(Others, HaveSoManyOpenJobsAllTogether) {
  Book book(options(), {}, 0);
  std::size_t open = 0;
  const auto fill = [&](std::uint32_t uid) {
    const Caller who{.uid = uid, .user = "user " + std::to_string(uid)};
    v1::SubmitRequest asked = request("");
    asked.mutable_spec()->set_device(who.user);  // so that only their own are ranked
    std::string refused;
    for (std::size_t i = 0; i < kOpenJobsOfAUser && refused.empty(); ++i) {
      refused = said(book.submit(who, asked, 0));
      open += refused.empty() ? 1 : 0;
    }
    return refused;
  };
  for (std::uint32_t uid = 100; uid < 110; ++uid) ASSERT_EQ(fill(uid), "");
  EXPECT_EQ(fill(110),
            "users who share this scheduler have 10000 jobs already that have not ended");
  EXPECT_EQ(open, kOpenJobsOfOthers);
  EXPECT_EQ(said(book.submit(kMe, request(""), 0)), "");
}

TEST(Others, DescribeTheirJobsInSoManyBytesAllTogether) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("");
  asked.mutable_spec()->set_options_json(std::string(wire::kLargestSpec - 1000, 'x'));
  std::string refused;
  for (std::uint32_t uid = 100; refused.empty() && uid < 120; ++uid) {
    for (int i = 0; i < 60 && refused.empty(); ++i) {
      refused = said(book.submit({.uid = uid, .user = "ann"}, asked, 0));
    }
  }
  EXPECT_TRUE(refused.starts_with("the jobs of users who share this scheduler take 267"))
      << refused;
  EXPECT_TRUE(refused.ends_with(" bytes to describe already, may take 268435456 in all"))
      << refused;
  EXPECT_EQ(said(book.submit(kMe, asked, 0)), "");
}

// A job whose goal is met already never counts as open.
TEST(Others, ReportSoManyBytes) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("");
  asked.set_known_json(std::string(wire::kLargestReport, 'x'));
  std::string refused;
  int submitted = 0;
  std::vector<JobRow> rows;
  for (; refused.empty() && submitted < 200; ++submitted) {
    const auto reply = book.submit(kAnn, asked, 0);
    refused = said(reply);
    const Effects effects = book.settle(0);
    rows.insert(rows.end(), effects.jobs.begin(), effects.jobs.end());
    if (reply.ok()) book.report_is_written(reply->job().id());
  }
  EXPECT_EQ(refused, "the reports of ann take 67108864 bytes already, may take 67108864 in all");
  EXPECT_EQ(submitted, 65);
  EXPECT_EQ(said(book.submit(kAnn, request(""), 0)), "") << "it has none";
  EXPECT_EQ(said(book.submit(kBob, asked, 0)), "");
  EXPECT_EQ(said(book.submit(kMe, asked, 0)), "");
  Book next(options(), rows, 0);
  EXPECT_EQ(said(next.submit(kAnn, asked, 0)), refused) << "after a restart too";
  ASSERT_TRUE(book.prune(kAnn, {}, 0).ok());
  EXPECT_EQ(said(book.submit(kAnn, asked, 0)), "");
}

TEST(Others, SendSoManyBytesForTheirOpenJobs) {
  std::vector<JobRow> rows;
  {
    Book book(options(), {}, 0);
    v1::SubmitRequest asked = request("large");
    ASSERT_EQ(said(book.submit(kAnn, asked, 0, kFileBytesOfAUser - 10)), "");
    rows = book.settle(0).jobs;
  }
  Book book(options(), rows, 0);
  EXPECT_EQ(said(book.submit(kAnn, request("more"), 0, std::uint64_t{1} << 20)),
            "the open jobs of ann have 16383 MiB of files already, may have 16384 in all");
  EXPECT_EQ(said(book.submit(kAnn, request("tiny"), 0, 10)), "");
  EXPECT_EQ(said(book.submit(kBob, request("more"), 0, std::uint64_t{1} << 20)), "");
  ASSERT_TRUE(book.control(kAnn, wish("large", v1::CANCEL), 0).ok());
  EXPECT_EQ(said(book.submit(kAnn, request("more"), 0, std::uint64_t{1} << 20)), "");
}

TEST_F(Tuners, OfferSoManyStagesAtOnce) {
  connect(1);
  ASSERT_EQ(answer(1, registration("a")), "known");
  EXPECT_EQ(answer(1, offer("j1", 1, 0, 0)), "start");
  for (int i = 1; i < static_cast<int>(kTunedOpenStages); ++i) {
    ASSERT_EQ(answer(1, offer("j1", 1, i, 0)), "");
  }
  EXPECT_EQ(answer(1, offer("j1", 1, 1000, 0)), "the job offers 64 stages already");
  EXPECT_EQ(answer(1, offer("j1", 1, 0, 0)), "start") << "said again";
  answer(1, finished("j1", 1, 0));
  EXPECT_NE(answer(1, offer("j1", 1, 1000, 0)), "the job offers 64 stages already");
}

TEST_F(Tuners, HaveSoManyJobsAtOnce) {
  for (WorkerId id : {1, 2}) connect(id);
  for (std::size_t i = 0; i < kTunedJobsOfAUser; ++i) {
    ASSERT_EQ(answer(1 + i % 2, registration("n" + std::to_string(i))), "known");
  }
  EXPECT_EQ(answer(1, registration("more")), "the tuners of ann have 32 jobs already");
  book_.left(2, 1);
  EXPECT_EQ(answer(1, registration("more"), 1), "the tuners of ann have 32 jobs already")
      << "they may come back";
  v1::FromWorker end = ended("j1", 1, v1::DONE);
  ASSERT_EQ(answer(1, end, 1), "known");
  EXPECT_EQ(answer(1, registration("more"), 1), "known");
}

TEST_F(Tuners, ReportNoMoreThanTheirUserMay) {
  connect(1);
  v1::SubmitRequest asked = request("");
  asked.set_known_json(std::string(wire::kLargestReport, 'x'));
  for (int i = 0; i < 64; ++i) ASSERT_EQ(said(book_.submit(kAnn, asked, 0)), "");
  ASSERT_EQ(answer(1, registration("a")), "known");
  v1::FromWorker end = ended("j65", 1, v1::DONE);
  end.mutable_ended()->set_result_json("{}");
  ASSERT_EQ(answer(1, end), "known");
  const v1::Job job = job_of(book_, "a", 1);
  EXPECT_EQ(job.state(), v1::DONE);
  EXPECT_EQ(job.result_json(), "");
  EXPECT_EQ(job.reason(),
            "its report of 2 bytes was left out, those of ann take 67108864 bytes already, may "
            "take 67108864 in all");
}

TEST_F(Tuners, DescribeTheirJobsBriefly) {
  connect(1);
  EXPECT_EQ(answer(1, registration("a", 101)),
            "the job has 101 kinds of stages, a tuner's may have at most 100");
  v1::FromWorker lengthy = registration("a");
  lengthy.mutable_register_()->mutable_spec()->set_options_json(std::string(20'000, 'x'));
  EXPECT_EQ(answer(1, lengthy),
            "the job takes 20007 bytes to describe, a tuner's must take at most 16384");
  ASSERT_EQ(answer(1, registration("a")), "known");
  v1::FromWorker more = kinds("j1", 1);
  for (int i = 0; i < 100; ++i) *more.mutable_kinds()->add_kinds() = more.kinds().kinds(0);
  EXPECT_EQ(answer(1, more), "the job has 102 kinds of stages, a tuner's may have at most 100");
}

// A number that was never offered says nothing, and is not remembered.
TEST_F(Tuners, WhatWasNeverOfferedIsNotRememberedAsWithdrawn) {
  connect(1);
  ASSERT_EQ(answer(1, registration("a")), "known");
  v1::FromWorker withdrawn = finished("j1", 1, 5);
  withdrawn.mutable_finished()->set_end(v1::WITHDRAWN);
  EXPECT_EQ(answer(1, withdrawn), "known");
  EXPECT_EQ(answer(1, offer("j1", 1, 5, 0)), "start");
  EXPECT_EQ(answer(1, withdrawn), "known");
  EXPECT_EQ(answer(1, offer("j1", 1, 5, 0)), "the stage is done");
}

TEST_F(Tuners, SayNothingThatIsTooLong) {
  connect(1);
  v1::FromWorker junk = finished(std::string(300, 'x'), 1, 0);
  EXPECT_EQ(answer(1, junk), "a name has 300 bytes, must have at most 200");
  junk = finished("j1", 1, 0);
  junk.mutable_finished()->set_message(std::string(3 << 20, 'x'));
  EXPECT_EQ(answer(1, junk), "the message has 3145753 bytes, must have at most 2097152");
  v1::FromWorker lengthy = hello(std::string(201, '1'));
  book_.joined(2, kAnnsTuner, 0);
  EXPECT_EQ(answer(2, lengthy), "a name has 201 bytes, must have at most 200");
  EXPECT_FALSE(book_.knows_worker(2));
  v1::FromWorker boasts = hello();
  for (int i = 0; i <= wire::kMostHolds; ++i) boasts.mutable_hello()->add_holds();
  book_.joined(3, kAnnsTuner, 0);
  EXPECT_EQ(answer(3, boasts), "the worker says that it has 1001 jobs, may have at most 1000");
}

TEST_F(Tuners, WhoNeverSayHelloAreLostHoweverOftenTheyBeat) {
  book_.joined(1, kAnnsTuner, 0);
  for (double now = 0; now < 10; now += 1) book_.said(1, beat(), now);
  book_.time_passed(10);
  EXPECT_FALSE(book_.knows_worker(1));
}

// Whatever is heard of it.
class Longest : public Tuners {
 protected:
  // Until when a stage of the job goes on whose worker says again and again that it does.
  double ends_at(Book& book, WorkerId worker, std::int64_t stage, double now) {
    for (;;) {
      book.said(worker, alive("j1", 1, stage), now);
      book.time_passed(now);
      const Effects effects = book.settle(now);
      for (const Message& message : effects.messages) {
        if (message.what.has_refused()) why_ = message.what.refused().why();
      }
      if (!book.knows_worker(worker)) return now;
      if (now > 100'000) return -1;
      now += 5;
    }
  }
  std::string why_;
};

TEST_F(Longest, StageOfAnotherUserHasAnHour) {
  connect(1);
  v1::FromWorker brings = registration("a");
  brings.mutable_register_()->mutable_kinds(0)->set_usual_seconds(1e7);
  ASSERT_EQ(answer(1, brings), "known");
  ASSERT_EQ(answer(1, offer("j1", 1, 0, 0)), "start");
  EXPECT_EQ(ends_at(book_, 1, 0, 5), 3600);
  EXPECT_EQ(why_, "its stage 'kind 0' ran for 3600 s, which is all that it may, and was ended");
  book_.time_passed(3700);
  EXPECT_EQ(job_of(book_, "a", 3700).state(), v1::FAILED);
  EXPECT_EQ(book_.snapshot(kMe, {}, 3700)->pools(1).used(), 0);
}

TEST_F(Longest, OrTheBudgetOfItsJob) {
  connect(1);
  v1::FromWorker brings = registration("a");
  brings.mutable_register_()->mutable_spec()->set_seconds(8000);
  ASSERT_EQ(answer(1, brings), "known");
  ASSERT_EQ(answer(1, offer("j1", 1, 0, 0)), "start");
  book_.stood_still(1000);
  EXPECT_EQ(ends_at(book_, 1, 0, 5), 9000) << "time in which nobody was heard does not count";
}

TEST_F(Longest, OneOfTheSchedulersUserHasAllTheTime) {
  Book book = one_running();
  EXPECT_EQ(ends_at(book, 1, 7, 5), -1);
}

TEST(Retention, OfOneUserPushesOutNothingOfOthers) {
  std::vector<EndedJob> jobs = {{"j1", 10, 5, 7}, {"j2", 20, 5, 7}};
  for (int i = 3; i < 100; ++i) jobs.push_back({"j" + std::to_string(i), 10.0 * i, 1, 8});
  const auto gone = overdue(jobs, {.jobs = 50}, 1000);
  EXPECT_EQ(gone.size(), 49u);
  EXPECT_EQ(gone.front(), "j3");
  EXPECT_EQ(overdue(jobs, {.bytes = 20}, 1000).back(), "j89") << "ten bytes each";
  EXPECT_EQ(overdue(jobs, {.jobs = 1}, 1000).size(), 98u);
}

TEST(Retention, CountsWhatDescribesAJobAndItsReport) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("a");
  asked.mutable_spec()->set_options_json(std::string(10'000, 'x'));
  asked.set_known_json(std::string(5'000, 'y'));
  ASSERT_EQ(said(book.submit(kAnn, asked, 0)), "");
  ASSERT_EQ(said(book.submit(kAnn, request("newest"), 0)), "");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(book.ended_jobs().size(), 1u);
    EXPECT_EQ(book.ended_jobs()[0].uid, 7u);
    EXPECT_GE(book.ended_jobs()[0].bytes, 15'000u);
    EXPECT_LT(book.ended_jobs()[0].bytes, 15'100u);
    book.report_is_written("j1");
  }
}

}  // namespace
}  // namespace attune::jobs
