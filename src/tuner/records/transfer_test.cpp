#include "tuner/records/transfer.h"

#include <gtest/gtest.h>

#include <vector>

#include "tuner/records/sample_records_testing.h"

namespace attune::records {
namespace {

class TransferTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& name) {
    return open_sqlite_store(directory_.file(name)).value();
  }
  TemporaryDirectory directory_;
};

TEST_F(TransferTest, ExportedRecordsArriveOnceInAnotherStore) {
  auto from = open("from.db");
  std::vector<Record> records;
  for (int i = 0; i < 600; ++i) records.push_back(sample_record(i, timing(100 + i)));
  records[3].outcome = runtime::BuildFailed{runtime::Phase::Build, "too large"};
  records[4].target = "vdla";
  records[5].session = 8;
  ASSERT_TRUE(from->add(records).ok());
  const std::string file = directory_.file("out.jsonl");
  EXPECT_EQ(export_records(*from, {}, file).value(), 600u);

  auto to = open("to.db");
  const ImportReport report = import_records(*to, file).value();
  EXPECT_EQ(report.added, 600u);
  EXPECT_EQ(report.duplicates, 0u);
  EXPECT_TRUE(report.problems.empty());
  const ImportReport again = import_records(*to, file).value();
  EXPECT_EQ(again.added, 0u);
  EXPECT_EQ(again.duplicates, 600u);
  EXPECT_EQ(import_records(*from, file)->added, 0u);

  const auto arrived = to->list({.task = {}, .session = 0}).value();
  ASSERT_EQ(arrived.size(), 600u);
  const auto best = to->best({kTask, kTarget}).value();
  EXPECT_EQ(content(*best), content(records[0]));
  EXPECT_EQ(export_records(*to, {.target = "vdla"}, file).value(), 1u);
}

TEST_F(TransferTest, DamagedLinesAreReportedAndTheRestImported) {
  const std::string first = content(sample_record(0, timing(1)));
  const std::string second = content(sample_record(1, timing(2)));
  const std::string file = directory_.file("in.jsonl");
  write_content(file, first + "\n" + second.substr(0, 50) + "\n\n{\"schema\":1}\n" + second +
                          "\r\n" + first + "\n{\"schema\":7}");
  auto store = open("records.db");
  const ImportReport report = import_records(*store, file).value();
  EXPECT_EQ(report.added, 2u);
  EXPECT_EQ(report.duplicates, 1u);
  ASSERT_EQ(report.problems.size(), 3u);
  EXPECT_EQ(report.problems[0].line, 2u);
  EXPECT_EQ(report.problems[0].column, 51u);
  EXPECT_EQ(report.problems[1].line, 4u);
  EXPECT_EQ(report.problems[1].column, 1u);
  EXPECT_EQ(report.problems[1].message, "field 'task_key' is missing");
  EXPECT_EQ(report.problems[2].line, 7u);
  EXPECT_EQ(report.problems[2].column, 2u);
  EXPECT_EQ(report.problems[2].message, "field 'schema' is 7, this attune reads 1");
}

TEST_F(TransferTest, FilesThatCannotBeReadOrWritten) {
  auto store = open("records.db");
  const std::string missing = directory_.file("missing.jsonl");
  EXPECT_EQ(import_records(*store, missing).error().message,
            "cannot read '" + missing + "': no such file");
  EXPECT_EQ(import_records(*store, directory_.path().string()).error().message,
            "cannot read '" + directory_.path().string() + "': it is a directory");
  EXPECT_EQ(export_records(*store, {}, directory_.file("no/out.jsonl")).error().message,
            "cannot write '" + directory_.file("no/out.jsonl") + "': directory '" +
                directory_.file("no") + "' does not exist");
}

}  // namespace
}  // namespace attune::records
