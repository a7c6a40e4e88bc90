#include "fleet/server/journal.h"

#include <gtest/gtest.h>

#include <string>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

using Events = std::vector<std::string>;

// Who waits must have heard of a failure before the server ends for it.
TEST(Journal, ThoseWhoWaitHearOfAFailureBeforeItsOwner) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  auto other = sqlite::Database::open_file(path, sqlite::Database::Access::Write, {});
  ASSERT_TRUE(other.ok() && other->execute("DROP TABLE jobs").ok());
  Events events;
  {
    Journal journal(std::move(*file), [&](const Error&) { events.push_back("owner"); });
    for (const char* name : {"first", "second"}) {
      jobs::JobRow row;
      row.number = 1;
      journal.append({.jobs = {row}}, {[&events, name](const Status& written) {
                       events.push_back(written.ok() ? "written" : name);
                     }});
    }
  }
  // The two may have been written together.
  EXPECT_TRUE(events == (Events{"first", "owner", "second"}) ||
              events == (Events{"first", "second", "owner"}));
}

TEST(Journal, KeepsTheLastOfEachJob) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  {
    Journal journal(std::move(*file), [](const Error&) {});
    for (std::int64_t number : {1, 2, 1, 3, 2}) {
      jobs::JobRow row{.number = number};
      row.job.set_id("j" + std::to_string(number));
      row.job.set_state(v1::DONE);
      row.job.set_trials(number + 10);
      journal.append({.jobs = {row}}, {});
    }
    journal.append({.forgotten = {{3, "j3"}}}, {});
  }
  const auto rows = StateFile::open_to_read(path)->read_jobs();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0).job.trials(), 11);
  EXPECT_EQ(rows->at(1).job.trials(), 12);
}

// A job with files is acknowledged when its row and the names of its files are on the disk, and its
// row is never there without them.
TEST(Journal, SyncsFoldersBeforeItWritesAndAcknowledges) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  Events events;
  const auto happened = [&](const std::string& what) {
    const auto rows = StateFile::open_to_read(path)->read_jobs();
    events.push_back(what + ", " + std::to_string(rows->size()) + " rows");
  };
  {
    Journal journal(
        std::move(*file), [](const Error&) {},
        [&](const std::string& synced) {
          happened("synced " + synced);
          return Status();
        });
    jobs::JobRow row{.number = 1};
    row.job.set_id("j1");
    row.job.set_state(v1::DONE);
    journal.append({.jobs = {row}, .folders = {"jobs/j1", "jobs"}},
                   {[&](const Status&) { happened("acknowledged"); }});
  }
  EXPECT_EQ(events,
            (Events{"synced jobs, 0 rows", "synced jobs/j1, 0 rows", "acknowledged, 1 rows"}));
}

TEST(Journal, WritesNothingOfFilesThatCannotBeSynced) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("scheduler.db");
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  Events events;
  {
    Journal journal(
        std::move(*file), [&](const Error& error) { events.push_back(error.message); },
        [](const std::string&) {
          return Status(Error{ErrorCode::Io, "the disk is gone", {}});
        });
    jobs::JobRow row{.number = 1};
    row.job.set_id("j1");
    journal.append({.jobs = {row}, .folders = {"jobs"}}, {[&](const Status& written) {
                     events.push_back(written.ok() ? "written" : "not written");
                   }});
  }
  EXPECT_EQ(events, (Events{"not written", "the disk is gone"}));
  EXPECT_TRUE(StateFile::open_to_read(path)->read_jobs()->empty());
}

}  // namespace
}  // namespace attune::server
