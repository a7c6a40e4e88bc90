#include "fleet/server/state_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

using sqlite::Database;

// As the program wrote it before jobs had owners, with one job.
void write_version_1(const std::string& path) {
  auto database = Database::open_file(path, Database::Access::Write, {});
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database
                  ->execute(R"(
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state INTEGER NOT NULL,
  key TEXT NOT NULL, wish INTEGER NOT NULL, is_foreign INTEGER NOT NULL, job BLOB NOT NULL);
CREATE UNIQUE INDEX jobs_key ON jobs(key) WHERE key <> '';
CREATE TABLE stages (
  job TEXT NOT NULL, epoch INTEGER NOT NULL, stage INTEGER NOT NULL, kind TEXT NOT NULL,
  pool TEXT NOT NULL, slots TEXT NOT NULL, ready_at REAL NOT NULL, started_at REAL NOT NULL,
  ended_at REAL NOT NULL, how INTEGER NOT NULL, PRIMARY KEY (job, epoch, stage)) WITHOUT ROWID;
CREATE INDEX stages_end ON stages(ended_at);
CREATE TABLE pools (number INTEGER PRIMARY KEY, name TEXT NOT NULL, capacity INTEGER NOT NULL);
PRAGMA application_id=1098151018; PRAGMA user_version=1)")
                  .ok());
  v1::Job job;
  job.set_id("j1");
  job.mutable_spec()->set_priority(1);
  job.mutable_spec()->set_prefetch(1);
  auto put = database->prepare("INSERT INTO jobs VALUES (1, 'j1', 'a', 0, 'k', -1, 0, ?)");
  ASSERT_TRUE(put.ok());
  const std::string bytes = job.SerializeAsString();
  ASSERT_TRUE(put->bind(sqlite::Blob{bytes}).run().ok());
}

jobs::JobRow row(std::int64_t number, std::uint32_t uid) {
  jobs::JobRow made{.number = number, .key = "k"};
  made.job.set_id("j" + std::to_string(number));
  made.job.set_uid(uid);
  made.job.mutable_spec()->set_priority(1);
  made.job.mutable_spec()->set_prefetch(1);
  return made;
}

TEST(StateFile, OfTheProgramBeforeIsReadAndMigrated) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  write_version_1(path);
  {
    const auto seen = StateFile::open_to_read(path);
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    EXPECT_EQ(seen->read_jobs()->at(0).job.uid(), ::geteuid()) << "it was not changed";
  }
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->read_jobs()->at(0).job.uid(), ::geteuid());
  ASSERT_TRUE(file->write({.jobs = {row(2, ::geteuid() + 1)}}).ok()) << "keys are their users' own";
  EXPECT_FALSE(file->write({.jobs = {row(3, ::geteuid())}}).ok());
  const auto again = StateFile::open_to_read(path);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->read_jobs()->size(), 2u);
  EXPECT_EQ(again->read_jobs()->at(1).job.uid(), ::geteuid() + 1);
}

// As a later program leaves it: closed in order, or killed with its log beside it.
void write_version_3(const std::string& path, bool killed) {
  auto database = Database::open_file(path, Database::Access::Write, {});
  ASSERT_TRUE(database.ok());
  if (killed) {
    ASSERT_TRUE(database->execute("PRAGMA journal_mode=WAL").ok());
    database->set_checkpoint_on_close(false);
  }
  ASSERT_TRUE(database
                  ->execute("CREATE TABLE jobs (number INTEGER PRIMARY KEY, more); "
                            "PRAGMA application_id=1098151018; PRAGMA user_version=3")
                  .ok());
}

TEST(StateFile, OfALaterProgramIsRefusedAndStaysAsItIs) {
  for (const bool killed : {false, true}) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.file("scheduler.db");
    write_version_3(path, killed);
    const std::string before = folder.read("scheduler.db"), log = folder.read("scheduler.db-wal");
    ASSERT_EQ(log.empty(), !killed);
    for (const auto& open : {StateFile::open, StateFile::open_to_read}) {
      const auto opened = open(path);
      ASSERT_FALSE(opened.ok());
      EXPECT_EQ(opened.error().message,
                "state file '" + path + "' has version 3, this attune knows up to 2");
      EXPECT_EQ(opened.error().hint,
                "update attune, or name another folder with --state DIR; it was not changed");
      EXPECT_TRUE(folder.read("scheduler.db") == before) << killed;
      EXPECT_TRUE(folder.read("scheduler.db-wal") == log) << killed;
    }
  }
}

TEST(StateFile, OnANetworkFileSystemIsRefused) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  ::setenv("ATTUNE_FILE_SYSTEM", "nfs", 1);
  const auto opened = StateFile::open(path);
  ::setenv("ATTUNE_FILE_SYSTEM", "local", 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message,
            "state file '" + path + "' would lie on a network file system (nfs)");
  EXPECT_EQ(opened.error().hint, "name a folder on a disk of this machine with --state DIR");
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "nothing was made";
  EXPECT_TRUE(StateFile::open(path).ok());
}

// Without it another process that closes the file would take it for its own and delete the log.
TEST(StateFile, KeepsItsLockOnTheFile) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  const auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok());
  const pid_t child = ::fork();  // locks are not inherited
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int descriptor = ::open(path.c_str(), O_RDWR);
    struct flock shared = {};  // where SQLite's readers and writers hold the file
    shared.l_type = F_WRLCK;
    shared.l_start = 0x40000002;
    shared.l_len = 510;
    const bool asked = descriptor >= 0 && ::fcntl(descriptor, F_GETLK, &shared) == 0;
    ::_exit(asked && shared.l_type == F_RDLCK ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

jobs::StageRow stage(const std::string& job, std::int64_t number, double ended_at) {
  jobs::StageRow made{.epoch = 1, .stage = number};
  made.bar.set_job(job);
  made.bar.add_slots(0);
  made.bar.set_ended_at(ended_at);
  return made;
}

TEST(StateFile, ForgetsJobsWithTheirStages) {
  const test::TemporaryDirectory folder;
  auto file = StateFile::open(folder.file("scheduler.db"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write({.jobs = {row(1, 1), row(2, 2)},
                           .stages = {stage("j1", 1, 10), stage("j2", 1, 20)}})
                  .ok());
  ASSERT_TRUE(file->write({.forgotten = {{1, "j1"}, {7, "j7"}}}).ok());
  ASSERT_EQ(file->read_jobs()->size(), 1u);
  EXPECT_EQ(file->read_jobs()->at(0).job.id(), "j2");
  ASSERT_EQ(file->read_stages()->size(), 1u);
  EXPECT_EQ(file->read_stages()->at(0).bar.job(), "j2");
}

TEST(StateFile, RemovesOldStagesSomeAtATime) {
  const test::TemporaryDirectory folder;
  auto file = StateFile::open(folder.file("scheduler.db"));
  ASSERT_TRUE(file.ok());
  Changes changes;
  for (int i = 0; i < 10; ++i) changes.stages.push_back(stage("j1", i, i));
  ASSERT_TRUE(file->write(changes).ok());
  EXPECT_EQ(*file->remove_stages(4, 1000, 3), 3);
  EXPECT_EQ(*file->remove_stages(4, 1000, 3), 1) << "those that ended at 3 and before";
  EXPECT_EQ(*file->remove_stages(0, 6, 100), 0) << "six are left";
  EXPECT_EQ(*file->remove_stages(0, 4, 100), 2);
  ASSERT_EQ(file->read_stages()->size(), 4u);
  EXPECT_EQ(file->read_stages()->at(0).bar.ended_at(), 6);
}

TEST(StateFile, LeavesReportsWhereTheyAre) {
  const test::TemporaryDirectory folder;
  auto file = StateFile::open(folder.file("scheduler.db"));
  ASSERT_TRUE(file.ok());
  jobs::JobRow done = row(1, 1);
  done.job.set_state(v1::DONE);
  done.job.set_result_json("{}");
  ASSERT_TRUE(file->write({.jobs = {done}}).ok());
  EXPECT_EQ(file->read_jobs()->at(0).job.result_json(), "{}");
  const auto rows = file->read_jobs(StateFile::Reports::Leave);
  EXPECT_EQ(rows->at(0).job.result_json(), "");
  EXPECT_TRUE(rows->at(0).report_on_disk);
  EXPECT_EQ(*file->read_report("j1"), "{}");
  EXPECT_EQ(*file->read_report("j2"), "");
}

TEST(StateFile, AKeyIsFreeAgainWithItsJobEvenInOneWrite) {
  const test::TemporaryDirectory folder;
  auto file = StateFile::open(folder.file("scheduler.db"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write({.jobs = {row(1, 1)}}).ok());
  ASSERT_TRUE(file->write({.jobs = {row(2, 1)},
                           .stages = {stage("j1", 1, 10), stage("j2", 1, 20)},
                           .forgotten = {{1, "j1"}}})
                  .ok());
  ASSERT_EQ(file->read_jobs()->size(), 1u);
  EXPECT_EQ(file->read_jobs()->at(0).job.id(), "j2");
  ASSERT_EQ(file->read_stages()->size(), 1u) << "stages that came late went with their job";
  EXPECT_EQ(file->read_stages()->at(0).bar.job(), "j2");
}

TEST(StateFile, AStageThatRanTwiceIsThereOnce) {
  const test::TemporaryDirectory folder;
  auto file = StateFile::open(folder.file("scheduler.db"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write({.stages = {stage("j1", 1, 10)}}).ok());
  ASSERT_TRUE(file->write({.stages = {stage("j1", 1, 30), stage("j1", 2, 40)}}).ok());
  ASSERT_EQ(file->read_stages()->size(), 2u);
  EXPECT_EQ(file->read_stages()->at(0).bar.ended_at(), 10);
}

// What a damaged or hostile row makes the program say.
struct BadRow {
  const char* sql;
  std::string sentence;
};

TEST(StateFile, RowsAreNotBelieved) {
  const BadRow bad[] = {
      {"UPDATE jobs SET job = x'ff'", "job 1 is unreadable"},
      {"UPDATE jobs SET number = 3", "row 3 of the jobs: its job is 'j1'"},
      {"UPDATE jobs SET wish = 0", "row 1 of the jobs: its wish is 0"},
      {"UPDATE jobs SET wish = 1152921504606846976", "row 1 of the jobs: its wish is 100"},
      {"UPDATE stages SET ended_at = 9e99", "stage 1 of job 'j1': 9e+99 is no time"},
      {"UPDATE stages SET how = 17", "stage 1 of job 'j1': it ended as 17"},
      {"UPDATE stages SET slots = '-4'", "stage 1 of job 'j1': its units are none"},
      {"INSERT INTO pools VALUES (0, 'cpu', -1)", "pool 'cpu' has -1 units"}};
  for (const BadRow& each : bad) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.file("scheduler.db");
    auto file = StateFile::open(path);
    ASSERT_TRUE(file.ok() &&
                file->write({.jobs = {row(1, 1)}, .stages = {stage("j1", 1, 10)}}).ok());
    auto database = Database::open_file(path, Database::Access::Write, {});
    ASSERT_TRUE(database.ok() && database->execute(each.sql).ok()) << each.sql;
    std::string said;
    if (const auto rows = file->read_jobs(); !rows.ok()) said = rows.error().message;
    if (const auto rows = file->read_stages(); !rows.ok()) said = rows.error().message;
    if (const auto rows = file->read_pools(); !rows.ok()) said = rows.error().message;
    EXPECT_EQ(said, "state file '" + path + "' is damaged: " + each.sentence) << each.sql;
  }
}

TEST(StateFile, IsItsUsersAlone) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  const auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok());
  for (const std::string& each : {path, path + "-wal", path + "-shm"}) {
    struct stat status = {};
    ASSERT_EQ(::stat(each.c_str(), &status), 0) << each;
    EXPECT_EQ(status.st_mode & 07777, 0600u) << each;
  }
}

}  // namespace
}  // namespace attune::server
