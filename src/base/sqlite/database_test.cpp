#include "base/sqlite/database.h"

#include <gtest/gtest.h>

#include "base/temporary_directory_testing.h"

namespace attune::sqlite {
namespace {

constexpr FileWords kWords{"notes file", "name another with --notes PATH", "free some space"};

TEST(Database, KeepsWhatWasCommitted) {
  const test::TemporaryDirectory folder;
  auto database = Database::open_file(folder.file("a.db"), Database::Access::Write, kWords);
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE(database->execute("CREATE TABLE t (n)").ok());
  {
    auto undone = Transaction::begin(*database);
    ASSERT_TRUE(undone.ok() && database->execute("INSERT INTO t VALUES (1)").ok());
  }
  EXPECT_EQ(*database->integer("SELECT count(*) FROM t"), 0);
  auto kept = Transaction::begin(*database);
  ASSERT_TRUE(kept.ok() && database->execute("INSERT INTO t VALUES (2)").ok());
  ASSERT_TRUE(kept->commit().ok());
  EXPECT_EQ(*database->integer("SELECT n FROM t"), 2);
}

TEST(Database, SaysWhatIsWrongInTheWordsOfItsKeeper) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.write("a.db", std::string(5000, 'x'));
  const auto database = Database::open_file(path, Database::Access::Read, kWords);
  ASSERT_TRUE(database.ok()) << "it is looked at later";
  const auto read = database->integer("SELECT count(*) FROM t");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "notes file '" + path + "' is damaged: file is not a database");
  EXPECT_EQ(read.error().hint,
            "move it away, or name another with --notes PATH; it was not changed");
}

TEST(Database, SaysThatAnotherHoldsIt) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("a.db");
  auto one = Database::open_file(path, Database::Access::Write, kWords);
  auto other = Database::open_file(path, Database::Access::Write, kWords);
  ASSERT_TRUE(one.ok() && other.ok());
  const auto held = Transaction::begin(*one);
  ASSERT_TRUE(held.ok());
  const auto refused = Transaction::begin(*other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "notes file '" + path + "' is held by another process");
}

TEST(Database, IsNotRunBeyondItsMeans) {
  const test::TemporaryDirectory folder;
  auto database = Database::open_file(folder.file("a.db"), Database::Access::Write, kWords);
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE(database
                  ->execute("CREATE TABLE t (n); CREATE VIEW large AS SELECT "
                            "zeroblob(1000000000) AS n")
                  .ok());
  const auto large = database->text("SELECT n FROM large");
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().message,
            "notes file '" + folder.file("a.db") + "' failed: string or blob too big");
  EXPECT_FALSE(
      database->execute("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = ''").ok());
  EXPECT_EQ(*database->integer("PRAGMA trusted_schema"), 0);
  EXPECT_EQ(*database->integer("PRAGMA cell_size_check"), 1);
}

}  // namespace
}  // namespace attune::sqlite
