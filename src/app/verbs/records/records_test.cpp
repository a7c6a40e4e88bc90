#include "app/verbs/records/records.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory_testing.h"
#include "tuner/records/store.h"

namespace attune::verbs {
namespace {

records::Record record_of(const std::string& key, const std::string& target, double us) {
  records::Record record;
  record.task_key = key;
  record.task_name = "conv2d+relu 1x64x56x56";
  record.target = target;
  record.trace = "split anchor oh " + std::to_string(static_cast<int>(us)) + "\n";
  record.trace_hash = static_cast<std::uint64_t>(us);
  record.outcome = outcome::Timing{.best_us = us, .repeats = 1};
  record.verified = true;
  return record;
}

class Records : public testing::Test {
 protected:
  void add(std::vector<records::Record> records) {
    auto store = records::open_sqlite_store(options_.records);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_TRUE((*store)->add(records).ok());
  }

  test::TemporaryDirectory directory_;
  RecordsOptions options_{.records = directory_.file("records.db")};
};

TEST_F(Records, TheBestOfTasksWithOneNameAreAllShown) {
  records::Record cold = record_of("aa", "cpu -threads=1", 9);
  cold.weights = records::Weights::Cold;
  records::Record wrong = record_of("bb", "cpu -threads=1", 1);
  wrong.verified = false;
  add({record_of("aa", "cpu -threads=1", 5), record_of("aa", "cpu -threads=1", 4), cold,
       record_of("aa", "cpu -threads=2", 3), record_of("bb", "cpu -threads=1", 7), wrong});
  const auto rows = best_records(options_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  std::vector<std::tuple<std::string, std::string, bool, double>> found;
  for (const RecordRow& row : *rows) {
    EXPECT_EQ(row.task, "conv2d+relu 1x64x56x56");
    found.emplace_back(row.key, row.target, row.cold_weights, row.time_us.value_or(0));
  }
  EXPECT_EQ(found, (std::vector<std::tuple<std::string, std::string, bool, double>>{
                       {"aa", "cpu -threads=1", false, 4},
                       {"aa", "cpu -threads=1", true, 9},
                       {"aa", "cpu -threads=2", false, 3},
                       {"bb", "cpu -threads=1", false, 7}}));
}

TEST_F(Records, ADryRunOfAnImportWritesNothing) {
  add({record_of("aa", "cpu -threads=1", 5), record_of("bb", "cpu -threads=1", 4)});
  const std::string file = directory_.file("all.jsonl");
  ASSERT_TRUE(export_records(options_, file).ok());
  const RecordsOptions other{.records = directory_.file("other.db")};
  const auto report = import_records(other, file, true);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->added, 2);
  EXPECT_EQ(report->duplicates, 0);
  EXPECT_FALSE(std::filesystem::exists(other.records));
  EXPECT_EQ(import_records(options_, file, true)->duplicates, 2);
}

}  // namespace
}  // namespace attune::verbs
