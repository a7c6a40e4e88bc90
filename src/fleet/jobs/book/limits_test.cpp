#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"
#include "fleet/jobs/book/checks.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

std::string said(const Status& status) { return status.ok() ? "" : status.error().message; }

TEST(Limits, AJobIsDescribedInSoManyBytes) {
  v1::SubmitRequest request;
  EXPECT_EQ(said(check_size(request)), "");
  request.set_idempotency_key(std::string(wire::kLongestText + 1, 'x'));
  EXPECT_EQ(said(check_size(request)), "the key has 4097 bytes, must have at most 4096");
  request.clear_idempotency_key();
  request.set_known_json(std::string(wire::kLargestReport + 1, 'x'));
  EXPECT_EQ(said(check_size(request)), "the report has 1048577 bytes, must have at most 1048576");
  request.clear_known_json();
  request.mutable_spec()->set_model(std::string(wire::kLargestSpec, 'x'));
  EXPECT_TRUE(said(check_size(request)).starts_with("the job takes 52429"))
      << said(check_size(request));
}

// Others are shown them: a list of jobs is no place to keep what is long.
TEST(Limits, AJobIsNamedInSoManyBytes) {
  const std::string most(wire::kLongestName, 'x');
  const std::pair<std::string, void (*)(v1::JobSpec&, const std::string&)> texts[] = {
      {"name", [](v1::JobSpec& spec, const std::string& text) { spec.set_name(text); }},
      {"user", [](v1::JobSpec& spec, const std::string& text) { spec.set_user(text); }},
      {"device", [](v1::JobSpec& spec, const std::string& text) { spec.set_device(text); }}};
  for (const auto& [what, set] : texts) {
    const std::string refusal = "the " + what + " of the job has 201 bytes, must have at most 200";
    Book book(options(), {}, 0);
    v1::SubmitRequest asked = request("");
    set(*asked.mutable_spec(), most);
    EXPECT_TRUE(book.submit(kMe, asked, 0).ok()) << what;
    set(*asked.mutable_spec(), most + "x");
    const auto reply = book.submit(kMe, asked, 0);
    ASSERT_FALSE(reply.ok()) << what;
    EXPECT_EQ(reply.error().message, refusal);
    for (JobRow row : book.settle(0).jobs) {
      EXPECT_EQ(said(check_row(row)), "");
      set(*row.job.mutable_spec(), most + "x");
      EXPECT_EQ(said(check_row(row)), "row 1 of the jobs: " + refusal);
      row.job.set_state(v1::DONE);
      EXPECT_EQ(said(check_row(row)), "row 1 of the jobs: " + refusal) << "lists have ended ones";
    }
  }
}

TEST(Limits, AJobIsNamedAfterWhatItsModelIsCalledAtTheBeginning) {
  Book book(options(), {}, 0);
  v1::SubmitRequest asked = request("");
  asked.mutable_spec()->set_model(std::string(100'000, 'm'));
  for (int i = 0; i < 3; ++i) {
    const auto reply = book.submit(kMe, asked, 0);
    ASSERT_TRUE(reply.ok());
    EXPECT_LE(reply->job().spec().name().size(), wire::kLongestName);
  }
  for (const JobRow& row : book.settle(0).jobs) EXPECT_EQ(said(check_row(row)), "");
}

TEST(Limits, KindsAreNamedInSoManyBytes) {
  v1::Kinds kinds;
  kinds.add_kinds()->set_name(std::string(wire::kLongestName + 1, 'x'));
  EXPECT_EQ(said(check_kinds(kinds.kinds())),
            "the name of a kind of stages has 201 bytes, must have at most 200");
  kinds.clear_kinds();
  for (int i = 0; i <= wire::kMostKinds; ++i) kinds.add_kinds();
  EXPECT_EQ(said(check_kinds(kinds.kinds())),
            "the job has 1001 kinds of stages, may have at most 1000");
}

TEST(Limits, AWorkerWithLongNamesIsSentAway) {
  v1::Hello hello;
  hello.set_name(std::string(wire::kLongestName + 1, 'x'));
  EXPECT_EQ(said(check_hello(hello)), "a name has 201 bytes, must have at most 200");
  hello.set_name("w");
  for (int i = 0; i <= wire::kMostDevices; ++i) hello.add_devices("cpu");
  EXPECT_EQ(said(check_hello(hello)), "the worker has 101 kinds of devices, may have at most 100");
}

TEST(Limits, AReportThatIsTooLongIsLeftOutAndTheJobIsDone) {
  Book book = one_running();
  v1::FromWorker end = ended("j1", 1, v1::DONE);
  end.mutable_ended()->set_result_json(std::string(wire::kLargestReport + 1, 'x'));
  end.mutable_ended()->set_reason(std::string(2 * wire::kLongestText, 'y'));
  book.said(1, end, 1);
  const v1::Job job = job_of(book, "a", 2);
  EXPECT_EQ(job.state(), v1::DONE);
  EXPECT_TRUE(job.result_json().empty());
  EXPECT_LE(job.reason().size(), wire::kLongestText);
  end.mutable_ended()->clear_reason();
  EXPECT_EQ(within_limits(end.ended()).reason(),
            "its report of 1048577 bytes was left out, at most 1048576 are kept");
}

TEST(Limits, BarsAreTheNewestWhereTheyAreTooMany) {
  Book book(options(), {}, 0);
  std::vector<StageRow> rows;
  for (int i = 0; i < 20'000; ++i) {
    StageRow row{.epoch = 1, .stage = i};
    row.bar.set_job("j1");
    row.bar.set_kind(std::string(wire::kLongestName, 'k'));
    row.bar.set_ended_at(i);
    rows.push_back(std::move(row));
  }
  book.recall(rows);
  v1::ListRequest list;
  list.set_with_bars(true);
  const auto snapshot = book.snapshot(kMe, list, 0);
  ASSERT_TRUE(snapshot.ok());
  EXPECT_LT(snapshot->ByteSizeLong(), wire::kLargestMessage / 4);
  ASSERT_GT(snapshot->bars_size(), 1000);
  EXPECT_EQ(snapshot->bars(snapshot->bars_size() - 1).ended_at(), 19'999);
}

}  // namespace
}  // namespace attune::jobs
