// What a power cut leaves of plain SQLite depends on what it asks of the disk; the losses that its
// manual describes must show, or the tests with power cuts would prove nothing.
#include "tests/support/disk/unsynced_vfs.h"

#include <gtest/gtest.h>

#include "base/sqlite/database.h"
#include "base/temporary_directory_testing.h"
#include "tests/support/disk/power_cuts.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;

struct Seen {
  int lost = 0, damaged = 0;
};

std::string path_in(const fs::path& folder) { return (folder / "notes.db").string(); }

// Rows 1, 2, 3 …; how many there are, or what is wrong with them.
std::string count_rows(const fs::path& folder) {
  auto database = Database::open_file(path_in(folder), Database::Access::Write, {});
  if (!database.ok()) return "damaged";
  const auto made = database->execute("CREATE TABLE IF NOT EXISTS notes(n INTEGER, text)");
  const auto sound = database->text("PRAGMA integrity_check");
  const auto count = database->integer("SELECT count(*) FROM notes");
  const auto highest = database->integer("SELECT coalesce(max(n), 0) FROM notes");
  if (!made.ok() || !sound.ok() || *sound != "ok" || !count.ok() || *count != *highest) {
    return "damaged";
  }
  return std::to_string(*count);
}

Subject notes(const std::string& settings) {
  return {
      [](const fs::path&, Rng&) {}, count_rows,
      [settings](const fs::path& folder, Rng& rng, Account& account) {
        auto database = Database::open_file(path_in(folder), Database::Access::Write, {});
        ASSERT_TRUE(database.ok() && database->execute(settings).ok());
        ASSERT_TRUE(database->execute("CREATE TABLE IF NOT EXISTS notes(n INTEGER, text)").ok());
        auto count = *database->integer("SELECT count(*) FROM notes");
        for (std::uint64_t i = rng.below(30); i > 0; --i) {
          const std::size_t step = account.begin();
          account.now(step, std::to_string(++count));
          auto put = database->prepare("INSERT INTO notes VALUES (?,?)");
          ASSERT_TRUE(put.ok());
          ASSERT_TRUE(put->bind(count, std::string(rng.below(9000), 'x')).run().ok());
          account.acknowledge(step);
        }
      }};
}

Seen seen_with(const std::string& settings) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const std::string& finding : cut_power(notes(settings), seed).findings) {
      const bool damaged = finding.find("found 'damaged'") != std::string::npos;
      (damaged ? seen.damaged : seen.lost) += 1;
    }
  }
  return seen;
}

TEST(UnsyncedVfs, FullSyncsLoseNothing) {
  for (const char* journal : {"WAL", "DELETE", "TRUNCATE"}) {
    const Seen seen = seen_with(std::string("PRAGMA journal_mode=") + journal +
                                "; PRAGMA synchronous=" + (*journal == 'W' ? "FULL" : "EXTRA"));
    EXPECT_EQ(seen.lost, 0) << journal;
    EXPECT_EQ(seen.damaged, 0) << journal;
  }
}

TEST(UnsyncedVfs, ALogThatIsSyncedSeldomLosesTheEndAndDamagesNothing) {
  const Seen seen = seen_with("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  EXPECT_GT(seen.lost, 5);
  EXPECT_EQ(seen.damaged, 0);
}

TEST(UnsyncedVfs, WithoutSyncsMuchIsLostAndSomeIsDamaged) {
  const Seen seen = seen_with("PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF");
  EXPECT_GT(seen.lost + seen.damaged, 20);
  EXPECT_GT(seen.damaged, 0);
}

TEST(UnsyncedDisk, KeepsWhatWasSyncedAndMayLoseTheRest) {
  using Kind = DiskEvent::Kind;
  const std::vector<DiskEvent> events = {
      {Kind::Create, "a"}, {Kind::Write, "a", 0, "old"}, {Kind::Sync, "a"},
      {Kind::SyncFolder},  {Kind::Write, "a", 0, "new"}, {Kind::Create, "b"}};
  bool kept = false, lost = false, named = false, nameless = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const DiskFiles files = after_power_cut({{"c", "before"}}, events, rng);
    ASSERT_TRUE(files.contains("a"));
    ASSERT_EQ(files.at("c"), "before");
    ASSERT_TRUE(files.at("a") == "old" || files.at("a") == "new") << files.at("a");
    (files.at("a") == "old" ? lost : kept) = true;
    (files.contains("b") ? named : nameless) = true;
  }
  EXPECT_TRUE(kept && lost && named && nameless);
}

}  // namespace
}  // namespace attune::test
