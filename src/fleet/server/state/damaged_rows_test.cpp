#include "fleet/server/state/damaged_rows.h"

#include <gtest/gtest.h>

#include "base/temporary_directory_testing.h"
#include "fleet/server/server.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

using sqlite::Database;
using Lines = std::vector<std::string>;

jobs::JobRow row(std::int64_t number, v1::JobState state) {
  jobs::JobRow made{.number = number, .key = "key " + std::to_string(number)};
  made.job.set_id("j" + std::to_string(number));
  made.job.set_uid(7);
  made.job.set_state(state);
  made.job.mutable_spec()->set_name("job " + std::to_string(number));
  made.job.mutable_spec()->set_user("ann");
  made.job.mutable_spec()->set_priority(1);
  made.job.mutable_spec()->set_prefetch(1);
  if (state >= v1::DONE) made.job.set_ended_at(50);
  return made;
}

jobs::StageRow stage(const std::string& job, double ended_at) {
  jobs::StageRow made{.epoch = 1, .stage = 1};
  made.bar.set_job(job);
  made.bar.set_ended_at(ended_at);
  return made;
}

class DamagedRows : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_.ok()) << file_.error().message;
    jobs::JobRow bad = row(1, v1::DONE);
    bad.job.set_best_ms(-1);
    ASSERT_TRUE(file_
                    ->write({.jobs = {bad, row(2, v1::DONE), row(3, v1::QUEUED)},
                             .stages = {stage("j2", 10), stage("j3", 20)}})
                    .ok());
  }
  void spoil(const std::string& sql) const {
    auto database = Database::open_file(path_, Database::Access::Write, {});
    ASSERT_TRUE(database.ok() && database->execute(sql).ok()) << sql;
  }
  std::int64_t number(const std::string& sql) const {
    return *Database::open_file(path_, Database::Access::Read, {})->integer(sql);
  }

  test::TemporaryDirectory folder_;
  const std::string path_ = wire::database_path(folder_.path());
  Result<StateFile> file_ = StateFile::open(path_);
};

TEST_F(DamagedRows, OfAnEndedJobIsSetAsideAndTheJobKeepsItsPlace) {
  ASSERT_FALSE(file_->read_jobs().ok());
  EXPECT_EQ(*file_->set_damaged_aside(100),
            Lines{"job j1 (job 1) was damaged and is set aside: row 1 of the jobs: -1 is no time "
                  "that something took"});
  const auto rows = file_->read_jobs();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  const jobs::JobRow& instead = rows->at(0);
  EXPECT_EQ(instead.key, "key 1") << "nobody else gets its key";
  EXPECT_EQ(instead.job.uid(), 7u);
  EXPECT_EQ(instead.job.spec().name(), "job 1");
  EXPECT_EQ(instead.job.spec().user(), "ann");
  EXPECT_EQ(instead.job.state(), v1::FAILED);
  EXPECT_EQ(instead.job.ended_at(), 100);
  EXPECT_EQ(instead.job.reason(),
            "its row in the state file was damaged and is set aside: row 1 of the jobs: -1 is no "
            "time that something took");
  EXPECT_EQ(number("SELECT state FROM set_aside WHERE number = 1"), v1::DONE) << "as it was";
  EXPECT_EQ(*file_->set_damaged_aside(200), Lines{});
  ASSERT_TRUE(file_->write({.forgotten = {{1, "j1"}}}).ok());
  EXPECT_EQ(number("SELECT count(*) FROM set_aside"), 0) << "it is forgotten with its job";
}

TEST_F(DamagedRows, ThatCannotBeReadAreKnownByWhatLiesBesideThem) {
  spoil("UPDATE jobs SET job = x'ff', name = x'c328' WHERE number < 3");
  EXPECT_EQ(*file_->set_damaged_aside(100),
            (Lines{"job j1 (?() was damaged and is set aside: job 1 is unreadable",
                   "job j2 (?() was damaged and is set aside: job 2 is unreadable"}));
  ASSERT_TRUE(file_->read_jobs().ok());
  EXPECT_EQ(file_->read_jobs()->at(1).job.spec().name(), "?(");
}

TEST_F(DamagedRows, StagesOfEndedJobsGo) {
  spoil("UPDATE stages SET ended_at = 9e99 WHERE job = 'j2'");
  EXPECT_EQ(file_->set_damaged_aside(100)->back(),
            "1 damaged stages of jobs that have ended were removed: stage 1 of job 'j2': 9e+99 is "
            "no time");
  ASSERT_TRUE(file_->read_stages().ok());
  EXPECT_EQ(file_->read_stages()->size(), 1u);
}

TEST_F(DamagedRows, OfAJobThatHasNotEndedLeavesTheFileAsItIs) {
  for (const char* sql : {"UPDATE jobs SET number = 9 WHERE number = 3",
                          "UPDATE jobs SET number = 3 WHERE number = 9; UPDATE stages SET "
                          "ended_at = 9e99 WHERE job = 'j3'"}) {
    spoil(sql);
    EXPECT_EQ(*file_->set_damaged_aside(100), Lines{});
    EXPECT_EQ(number("SELECT count(*) FROM set_aside"), 0);
    EXPECT_FALSE(file_->read_jobs().ok());
  }
}

TEST_F(DamagedRows, DoNotKeepASchedulerFromStarting) {
  file_ = Error{ErrorCode::Io, "closed", {}};
  Lines notes;
  const auto server =
      Server::start({.state = folder_.path(),
                     .version = "1",
                     .policy = *jobs::find_policy("fair"),
                     .host_cores = {0},
                     .profile_cores = {1},
                     .note = [&](const std::string& text) { notes.push_back(text); }});
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(notes.front(),
            "job j1 (job 1) was damaged and is set aside: row 1 of the jobs: -1 is no time that "
            "something took");
}

}  // namespace
}  // namespace attune::server
