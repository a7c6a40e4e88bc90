#include "tuner/records/transfer.h"

#include <gtest/gtest.h>
#include <zlib.h>

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
  records[3].outcome = outcome::BuildFailed{outcome::Phase::Build, "too large"};
  records[4].target = "vdla";
  records[5].session = 8;
  ASSERT_TRUE(from->add(records).ok());
  const std::string file = directory_.file("out.jsonl");
  EXPECT_EQ(export_records(*from, {}, file)->records, 600u);

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
  EXPECT_EQ(export_records(*to, {.target = "vdla"}, file)->records, 1u);
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
  EXPECT_EQ(report.problems[2].message, "field 'schema' is 7, this attune reads 1 and 2");
}

TEST_F(TransferTest, DefinitionsTravelWithTheirRecords) {
  auto from = open("from.db");
  ASSERT_TRUE(
      from->add(std::vector{sample_record(0, timing(1)), sample_record(1, timing(2))}).ok());
  Record other = sample_record(2, timing(3));
  other.task_key = "of no known task";
  ASSERT_TRUE(from->add(std::vector{other}).ok());
  ASSERT_TRUE(from->put_task({kTask, "task", 5, {{"direct", "theirs", 0}, {"gemm", "g", 1}}}).ok());
  ASSERT_TRUE(from->put_task({"not exported", "task", 5, {{"direct", "text", 0}}}).ok());
  const std::string file = directory_.file("out.jsonl");
  const ExportReport written = export_records(*from, {}, file).value();
  EXPECT_EQ(written.records, 3u);
  EXPECT_EQ(written.tasks, 1u);
  EXPECT_EQ(written.undefined, 1u);

  auto empty = open("empty.db");
  EXPECT_EQ(import_records(*empty, file)->tasks, 1u);
  EXPECT_EQ(task_to_json_line(empty->task(kTask)->value()),
            task_to_json_line(from->task(kTask)->value()));
  EXPECT_FALSE(empty->task("not exported")->has_value());
  EXPECT_EQ(import_records(*empty, file)->tasks, 0u);

  // What a store knows itself stays; what it lacks is added.
  auto defined = open("defined.db");
  ASSERT_TRUE(defined->put_task({kTask, "mine", 7, {{"direct", "mine", 0}}}).ok());
  EXPECT_EQ(import_records(*defined, file)->tasks, 1u);
  const TaskDefinition merged = defined->task(kTask)->value();
  EXPECT_EQ(merged.name, "mine");
  EXPECT_EQ(merged.flops, 7);
  ASSERT_EQ(merged.programs.size(), 2u);
  EXPECT_EQ(merged.programs[0].text, "mine");
  EXPECT_EQ(merged.programs[1].text, "g");
}

TEST_F(TransferTest, CountingWritesNothing) {
  auto from = open("from.db");
  std::vector<Record> records;
  for (int i = 0; i < 300; ++i) records.push_back(sample_record(i, timing(100 + i)));
  ASSERT_TRUE(from->add(records).ok());
  ASSERT_TRUE(from->put_task({kTask, "task", 5, {{"direct", "text", 0}}}).ok());
  const std::string file = directory_.file("out.jsonl");
  ASSERT_TRUE(export_records(*from, {}, file).ok());
  const std::string lines = file_content(file);
  write_content(file, lines + lines + "{\n");

  auto to = open("to.db");
  ASSERT_TRUE(to->add(std::span(records).first(7)).ok());
  const ImportReport counted = import_records(*to, file, ImportMode::Count).value();
  EXPECT_EQ(to->list({})->size(), 7u);
  EXPECT_FALSE(to->task(kTask)->has_value());
  const ImportReport written = import_records(*to, file).value();
  EXPECT_EQ(written.added, 293u);
  EXPECT_EQ(counted.added, written.added);
  EXPECT_EQ(counted.duplicates, written.duplicates);
  EXPECT_EQ(counted.tasks, written.tasks);
  EXPECT_EQ(counted.tasks, 1u);
  EXPECT_EQ(counted.problems.size(), written.problems.size());

  const std::string missing = directory_.file("missing.db");
  auto nothing = open_sqlite_store_for_reading(missing).value();
  EXPECT_EQ(import_records(*nothing, file, ImportMode::Count)->added, 300u);
  EXPECT_FALSE(std::filesystem::exists(missing));
}

TEST_F(TransferTest, CompressedFilesAreReadAsFarAsTheyGo) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += content(sample_record(i, timing(1 + i))) + "\n";
  const std::string file = directory_.file("in.jsonl.gz");
  gzFile compressed = gzopen(file.c_str(), "wb");
  ASSERT_EQ(gzwrite(compressed, lines.data(), static_cast<unsigned>(lines.size())),
            static_cast<int>(lines.size()));
  ASSERT_EQ(gzclose(compressed), Z_OK);
  auto whole = open("whole.db");
  EXPECT_EQ(import_records(*whole, file)->added, 400u);

  const std::string bytes = file_content(file);
  write_content(file, bytes.substr(0, bytes.size() / 2));
  auto half = open("half.db");
  const ImportReport report = import_records(*half, file).value();
  EXPECT_GT(report.added, 0u);
  EXPECT_LT(report.added, 400u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].message,
            "cannot read '" + file + "': the compressed data ends early");
}

TEST_F(TransferTest, FilesThatCannotBeReadOrWritten) {
  auto store = open("records.db");
  const std::string missing = directory_.file("missing.jsonl");
  EXPECT_EQ(import_records(*store, missing).error().message,
            "cannot read '" + missing + "': no such file or directory");
  EXPECT_EQ(import_records(*store, directory_.path().string()).error().message,
            "cannot read '" + directory_.path().string() + "': it is a directory");
  EXPECT_EQ(export_records(*store, {}, directory_.file("no/out.jsonl")).error().message,
            "cannot write '" + directory_.file("no/out.jsonl") + "': directory '" +
                directory_.file("no") + "' does not exist");
}

}  // namespace
}  // namespace attune::records
