#include "app/cli/fleet/jobs_view.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

using client::JobState;
using client::JobStatus;

JobStatus job_of(const std::string& id, JobState state) {
  JobStatus job{.id = id, .state = state};
  job.request.name = "model-" + id;
  job.request.user = "ada";
  return job;
}

TEST(JobsView, Durations) {
  EXPECT_EQ(duration_text(-1), "0 s");
  EXPECT_EQ(duration_text(8.4), "8 s");
  EXPECT_EQ(duration_text(180), "3 min");
  EXPECT_EQ(duration_text(9000), "2.5 h");
}

TEST(JobsView, SaysWhatAJobWaitsFor) {
  JobStatus job = job_of("1", JobState::Waiting);
  job.waiting_for = "cpu";
  job.queue_position = 2;
  EXPECT_EQ(state_text(job), "waiting for cpu, number 2");
  job = job_of("1", JobState::Queued);
  job.reason = "no worker has a device 'cuda', only cpu";
  EXPECT_EQ(state_text(job), "queued: no worker has a device 'cuda', only cpu");
  job = job_of("1", JobState::Failed);
  job.reason = "cannot read /x.onnx";
  job.queue_position = 3;
  EXPECT_EQ(state_text(job), "failed: cannot read /x.onnx");
}

TEST(JobsView, OneLineHasTheFigures) {
  JobStatus job = job_of("1", JobState::Running);
  EXPECT_EQ(job_line(job, 100), "model-1: running");
  job.trials = 120;
  job.best_ms = 20;
  job.default_ms = 30;
  job.predicted_end = 280;
  EXPECT_EQ(job_line(job, 100), "model-1: running, 120 trials, 20 ms (1.50x), about 3 min to go");
}

TEST(JobsView, NamesOfOthersCannotCommandTheTerminal) {
  JobStatus job = job_of("1", JobState::Running);
  job.request.name = "evil\033[2J";
  EXPECT_EQ(job_line(job, 0), "evil?[2J: running");
}

TEST(JobsView, TableHasTheOpenJobsFirstAndTheNewestOfTheEnded) {
  client::Overview overview{.now = 1000};
  overview.jobs = {job_of("1", JobState::Done), job_of("2", JobState::Running),
                   job_of("3", JobState::Done)};
  overview.jobs[0].ended_at = 900;
  overview.jobs[2].ended_at = 990;
  const std::string table = jobs_table(overview, 1);
  EXPECT_LT(table.find("model-2"), table.find("model-3"));
  EXPECT_NE(table.find("10 s ago"), std::string::npos) << table;
  EXPECT_EQ(table.find("model-1"), std::string::npos) << table;
  EXPECT_NE(jobs_table(overview, 2).find("model-1"), std::string::npos);
}

TEST(JobsView, TableSaysInFullWhyAJobFailed) {
  client::Overview overview{.now = 1000};
  overview.jobs = {job_of("1", JobState::Failed)};
  overview.jobs[0].reason = "the model '/somewhere/far/away/model.onnx' is not there any more";
  const std::string table = jobs_table(overview, 1);
  EXPECT_NE(table.find("\n     the model '/somewhere/far/away/model.onnx' is not there any more\n"),
            std::string::npos)
      << table;
}

client::Overview two_jobs() {
  client::Overview overview{.policy = "fair", .now = 30};
  overview.jobs = {job_of("1", JobState::Running), job_of("2", JobState::Waiting)};
  overview.pools = {{"host", 1, 0, 0.5}, {"cpu", 1, 1, 0.25}};
  // The host: job 1 for the first half, then idle. The device: job 2, which still has it.
  overview.bars = {{"1", "build", "host", {0}, 0, 0, 15}, {"2", "profile", "cpu", {0}, 0, 22.5, 0}};
  return overview;
}

TEST(JobsView, SaysWhatWentWrongWithAJobThatGoesOn) {
  client::Overview overview;
  overview.jobs.resize(1);
  client::JobStatus& job = overview.jobs[0];
  job.state = client::JobState::Running;
  job.trouble = "its stage 'profile' said nothing for 600 s and was ended";
  EXPECT_EQ(jobs_table(overview, 10).find(job.trouble), std::string::npos) << "long ago";
  EXPECT_NE(job_page(job, 0).find("trouble      " + job.trouble + "\n"), std::string::npos);
  job.strikes = 1;
  EXPECT_NE(jobs_table(overview, 10).find("     " + job.trouble + "; it is tried again\n"),
            std::string::npos);
  EXPECT_NE(job_page(job, 0).find("trouble      " + job.trouble + "; it is tried again\n"),
            std::string::npos);
}

TEST(JobsView, StripsShowWhoHadWhatWhen) {
  const std::string page = live_page(two_jobs(), 30, {.columns = 58, .rows = 24});
  std::string idle;
  for (int i = 0; i < 20; ++i) idle += "·";
  EXPECT_NE(page.find("host 0      " + std::string(20, 'a') + idle + "  50%\n"), std::string::npos)
      << page;
  EXPECT_NE(page.find(idle + "··········" + std::string(10, 'b') + "  25%\n"), std::string::npos)
      << page;
  EXPECT_NE(page.find("policy fair, 1 running, 1 waiting\n"), std::string::npos) << page;
  EXPECT_NE(page.find("a model-1: running\n"), std::string::npos) << page;
  EXPECT_NE(page.find("30 s ago"), std::string::npos) << page;
}

TEST(JobsView, StripsGoOnWhileNothingIsSaid) {
  const std::string page = live_page(two_jobs(), 45, {.columns = 58, .rows = 24});
  EXPECT_NE(page.find("60 s ago"), std::string::npos) << page;
  EXPECT_NE(page.find(std::string(15, 'b') + "  25%\n"), std::string::npos) << page;
}

TEST(JobsView, PageFitsTheScreen) {
  client::Overview overview = two_jobs();
  for (int i = 3; i < 50; ++i) {
    overview.jobs.push_back(job_of(std::to_string(i), JobState::Queued));
  }
  const std::string page = live_page(overview, 30, {.columns = 40, .rows = 20, .colours = true});
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 20);
  EXPECT_NE(page.find("more\n"), std::string::npos) << page;
}

TEST(JobsView, PageOfAJobThatEndedHasOnlyWhatWas) {
  JobStatus job = job_of("7", JobState::Done);
  job.request.output = "/tmp/x.attune";
  job.best_ms = 1;
  job.stages = {{"build", "host", 1, 0.5, 12, 3.0}, {"race", "cpu", 1, 2, 0, std::nullopt}};
  const std::string page = job_page(job, 10);
  EXPECT_NE(page.find("\nstage            resource    units     done\n"
                      "build            host            1       12\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("artifact     /tmp/x.attune\n"), std::string::npos) << page;
  EXPECT_EQ(page.find("race"), std::string::npos) << page;
}

TEST(JobsView, PageOfOneJobListsItsStages) {
  JobStatus job = job_of("7", JobState::Running);
  job.stages = {{"build", "host", 1, 0.5, 12, 3.0}, {"profile", "cpu", 1, 2, 11, std::nullopt}};
  const std::string page = job_page(job, 10);
  EXPECT_NE(page.find("build            host            1       12        3     0.50 s\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("profile          cpu             1       11        ?     2.00 s\n"),
            std::string::npos)
      << page;
}

}  // namespace
}  // namespace attune::cli
