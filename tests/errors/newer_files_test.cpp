// Files of a later program: each kind is refused with a sentence and the next step, and every byte
// of it stays. And the file systems that a database should not lie on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/sqlite/database.h"
#include "base/temporary_directory_testing.h"
#include "tests/support/golden.h"
#include "tests/support/process.h"

namespace attune {
namespace {

class NewerFiles : public ::testing::Test {
 protected:
  NewerFiles() {
    const auto from = test::golden_directory().parent_path() / "fixtures" / "0.1";
    std::filesystem::copy(from, directory_.path());
    shell("gunzip *.db.gz *.jsonl.gz && tar xzf scheduler.tar.gz");
  }

  // A line of bash in the folder of the files; $A is the program.
  test::ProcessResult shell(const std::string& line, const std::string& file_system = "local") {
    return test::run_process({"bash", "-c", "cd '" + directory_.path().string() + "'; " + line},
                             {{"A", test::attune_program()},
                              {"HOME", directory_.file("home")},
                              {"ATTUNE_MACHINE", "stated"},
                              {"ATTUNE_FILE_SYSTEM", file_system}});
  }
  void set_version(const std::string& file, int version) {
    auto database =
        sqlite::Database::open_file(directory_.file(file), sqlite::Database::Access::Write, {});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->execute("PRAGMA user_version=" + std::to_string(version)).ok());
  }
  void replace(const std::string& file, const std::string& old, const std::string& text) {
    std::string content = directory_.read(file);
    const std::size_t at = content.find(old);
    ASSERT_NE(at, std::string::npos);
    directory_.write(file, content.replace(at, old.size(), text));
  }
  void expect_refused(const std::string& line, const std::string& file, const std::string& words,
                      int status = 1, int most_lines = 3) {
    const std::string before = directory_.read(file);
    const test::ProcessResult result = shell(line);
    EXPECT_EQ(result.status, status) << line;
    EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
    EXPECT_NE(result.errors.find("\nhint: "), std::string::npos) << result.errors;
    EXPECT_LE(std::count(result.errors.begin(), result.errors.end(), '\n'), most_lines)
        << result.errors;
    EXPECT_TRUE(directory_.read(file) == before) << line << " changed " << file;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(NewerFiles, StateOfAScheduler) {
  set_version("state/scheduler.db", 99);
  const std::string words = "has version 99, this attune knows up to ";
  expect_refused("$A scheduler --state state", "state/scheduler.db", words);
}

TEST_F(NewerFiles, Records) {
  set_version("records.db", 99);
  const std::string words = "has schema version 99, this attune knows up to ";
  for (const char* line :
       {"$A records list --records records.db", "$A records prune --keep 1 --records records.db",
        "$A tune matmul:m=8,n=8,k=8 --trials 1 --records records.db",
        "$A bench matmul:m=8,n=8,k=8 --repeats 1 --records records.db"}) {
    expect_refused(line, "records.db", words);
  }
}

TEST_F(NewerFiles, Artifacts) {
  replace("small_net.attune",
          std::string("\x8a"
                      "ATN\r\n\x1a\n\x01",
                      9),
          std::string("\x8a"
                      "ATN\r\n\x1a\n\x09",
                      9));
  expect_refused("$A run small_net.attune", "small_net.attune", "it has format version 9");
}

TEST_F(NewerFiles, Bundles) {
  replace("bundle.jsonl", "\"schema\":2", "\"schema\":9");
  expect_refused("$A records bundle bundle.jsonl --records records.db", "bundle.jsonl",
                 "it has schema 9, this attune reads up to 2", 2);
}

TEST_F(NewerFiles, ExportedRecords) {
  directory_.write("new.jsonl", R"({"schema":9,"more":1})"
                                "\n");
  expect_refused("$A records import new.jsonl --records records.db", "records.db",
                 "field 'schema' is 9, this attune reads 1 and 2", 1, 4);
}

TEST_F(NewerFiles, OnANetworkTheStateIsRefusedAndRecordsAreWarnedOf) {
  const test::ProcessResult scheduler = shell("$A scheduler --state state", "nfs");
  EXPECT_EQ(scheduler.status, 1);
  EXPECT_NE(scheduler.errors.find("would lie on a network file system (nfs)\nhint: name a folder"),
            std::string::npos)
      << scheduler.errors;
  const std::string import = "$A records import records.jsonl --records new.db";
  const test::ProcessResult warned = shell(import, "fuse.sshfs");
  EXPECT_EQ(warned.status, 0) << warned.errors;
  EXPECT_NE(warned.errors.find("records 'new.db' lie on a network file system (fuse.sshfs): use "
                               "them from one machine at a time"),
            std::string::npos)
      << warned.errors;
  EXPECT_EQ(shell(import).errors.find("network"), std::string::npos);
}

}  // namespace
}  // namespace attune
