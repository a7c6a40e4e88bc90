#include "tuner/records/sqlite_checks.h"

#include <gtest/gtest.h>

#include <utility>

#include "tuner/records/merge.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_schema.h"
#include "tuner/records/store.h"

namespace attune::records {
namespace {

namespace fs = std::filesystem;

// As somebody sends it.
class RecordsFile : public testing::Test {
 protected:
  std::string path() const { return directory_.file("records.db"); }

  void write_records(int count) {
    auto store = open_sqlite_store(path());
    ASSERT_TRUE(store.ok()) << store.error().message;
    std::vector<Record> records;
    for (int i = 0; i < count; ++i) records.push_back(sample_record(i, timing(100 + i)));
    ASSERT_TRUE((*store)->add(records).ok());
  }
  bool run_sql(const std::string& sql) {
    auto database = open_for_writing(path());
    return database.ok() && database->execute(sql).ok();
  }
  // Both ways of opening refuse the file with this error and leave every byte as it is.
  void expect_refused(const std::string& message, const std::string& hint) {
    const std::string before = file_content(path());
    for (const auto& open : {open_sqlite_store, open_sqlite_store_for_reading}) {
      const auto store = open(path());
      ASSERT_FALSE(store.ok());
      EXPECT_EQ(store.error().code, ErrorCode::Corrupt);
      EXPECT_EQ(store.error().message, message);
      EXPECT_EQ(store.error().hint, hint);
      EXPECT_EQ(file_content(path()), before);
    }
  }

  TemporaryDirectory directory_;
};

// A file of ours after some SQL, in which whoever reads it would run what it says.
TEST_F(RecordsFile, AFileThatIsAProgramIsRefused) {
  const std::string drop = "PRAGMA foreign_keys=OFF; DROP TABLE records; ";
  const std::pair<std::string, std::string> programs[] = {
      {drop + "CREATE VIEW records AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM "
              "n) SELECT x FROM n",
       "has a view 'records', which no records file of ours has"},
      {drop + "CREATE VIEW records AS SELECT zeroblob(1000000000) AS task_name",
       "has a view 'records', which no records file of ours has"},
      {"CREATE TRIGGER more AFTER INSERT ON records BEGIN DELETE FROM records; END",
       "has a trigger 'more', which no records file of ours has"},
      {"CREATE VIRTUAL TABLE texts USING fts5(x)",
       "has a table 'texts', which no records file of ours has"},
      {"CREATE TABLE \"a\nb\"(x)", "has a table 'a b', which no records file of ours has"},
      {"CREATE INDEX slow ON records(length(zeroblob(60000000)))",
       "has an index 'slow', which no records file of ours has"},
      {"ALTER TABLE tasks ADD COLUMN more AS (zeroblob(60000000))",
       "has a table 'tasks' that is not made as in records files of ours"},
      {"DROP TABLE tasks; CREATE TABLE tasks(key, name, flops CHECK(length(zeroblob(60000000))))",
       "has a table 'tasks' that is not made as in records files of ours"},
      {"DROP TABLE tasks", "lacks a table 'tasks', which records files of ours have"},
      {"PRAGMA user_version = 0", "has a table 'task_targets', which no records file of ours has"},
  };
  for (const auto& [sql, why] : programs) {
    fs::remove(path());
    write_records(1);
    SCOPED_TRACE(sql);
    const bool made = run_sql(sql);
    if (!made && sql.find("fts5") != sql.npos) continue;  // this SQLite has no such tables
    ASSERT_TRUE(made);
    expect_refused("'" + path() + "' " + why,
                   "name another file with --records PATH; it was not changed");
  }
}

TEST_F(RecordsFile, AFileOfNoVersionIsRefused) {
  write_records(1);
  ASSERT_TRUE(run_sql("PRAGMA user_version = -3"));
  expect_refused("records file '" + path() + "' has schema version -3, this attune knows up to " +
                     std::to_string(migrations().size()),
                 "update attune, or name another file with --records PATH; it was not changed");
}

TEST_F(RecordsFile, WhatAnalyzeLeavesIsNoHarm) {
  write_records(2);
  ASSERT_TRUE(run_sql("ANALYZE"));
  EXPECT_EQ(open_sqlite_store_for_reading(path()).value()->list({})->size(), 2u);
  EXPECT_TRUE(open_sqlite_store(path()).ok());
}

// What another user's scheduler sends is looked at as a whole before anything is taken from it.
TEST_F(RecordsFile, NothingIsTakenFromADamagedFile) {
  write_records(200);
  std::string bytes = file_content(path());
  for (std::size_t i = bytes.size() - 2 * 4096; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i * 7);
  }
  write_content(path(), bytes);
  const std::string into = directory_.file("mine.db");
  const Status merged = merge_stores(path(), into);
  ASSERT_FALSE(merged.ok());
  EXPECT_EQ(merged.error().message.find("records file '" + path() + "' is damaged: "), 0u)
      << merged.error().message;
  EXPECT_FALSE(fs::exists(into));
}

}  // namespace
}  // namespace attune::records
