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
      journal.append({row}, {}, {[&events, name](const Status& written) {
                       events.push_back(written.ok() ? "written" : name);
                     }});
    }
  }
  // The two may have been written together.
  EXPECT_TRUE(events == (Events{"first", "owner", "second"}) ||
              events == (Events{"first", "second", "owner"}));
}

}  // namespace
}  // namespace attune::server
