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

}  // namespace
}  // namespace attune::server
