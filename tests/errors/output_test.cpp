// Output that cannot be written: a full disk, a closed descriptor, a directory without permission.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"

namespace attune {
namespace {

class Output : public ::testing::Test {
 protected:
  // The command line of a shell, with $A for the program.
  test::ProcessResult shell(const std::string& line) const {
    return test::run_process({"bash", "-c", line}, {{"A", test::attune_program()},
                                                    {"XDG_DATA_HOME", directory_.file("data")},
                                                    {"D", directory_.path().string()}});
  }
  test::TemporaryDirectory directory_;
};

TEST_F(Output, FullDisk) {
  const test::ProcessResult result = shell("$A --help > /dev/full");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors,
            "attune: error: cannot write to standard output: the disk is full\n"
            "hint: free some space, or send the output elsewhere\n");
}

TEST_F(Output, ClosedStandardOutput) {
  const test::ProcessResult result = shell("$A records list --json >&-");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors, "attune: error: cannot write to standard output: it is closed\n");
}

TEST_F(Output, ClosedStandardErrorDoesNotEndUpInAFile) {
  const test::ProcessResult result =
      shell("$A compile softmax:m=4,n=4 -o $D/x.so 2>&-; $A compile softmax:m=4,n=4 -o $D/y.so");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(directory_.read("x.so"), directory_.read("y.so"));
  EXPECT_NE(directory_.read("x.so"), "");
}

TEST_F(Output, AReaderThatHasEnoughIsNoError) {
  const test::ProcessResult result = shell(
      "$A compile matmul:m=64,n=64,k=64 --emit=asm | head -1 > /dev/null;"
      "exit ${PIPESTATUS[0]}");
  EXPECT_EQ(result.status, 0);
}

TEST_F(Output, NoPermission) {
  // Root may write anywhere, so that it acts as somebody else here.
  const std::string as_nobody = "setpriv --reuid=65534 --clear-groups ";
  const std::string user = ::geteuid() == 0 ? as_nobody : "";
  if (shell(user + "$A --version").status != 0) GTEST_SKIP() << "cannot act as another user";
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::create_directory(directory_.path() / "locked");
  std::filesystem::permissions(directory_.path() / "locked", std::filesystem::perms(0555));
  const test::ProcessResult compiled =
      shell(user + "$A compile softmax:m=4,n=4 -o $D/locked/kernel.so");
  EXPECT_EQ(compiled.status, 1);
  EXPECT_EQ(compiled.errors.find("attune: error: cannot write '" +
                                 directory_.file("locked/kernel.so") + "': "),
            0u)
      << compiled.errors;
  EXPECT_NE(compiled.errors.find("permission"), std::string::npos) << compiled.errors;
  const test::ProcessResult tuned =
      shell(user + "$A tune softmax:m=4,n=4 --trials 1 --records $D/locked/records.db");
  EXPECT_EQ(tuned.status, 1);
  EXPECT_EQ(tuned.errors,
            "attune: error: cannot create records file '" + directory_.file("locked/records.db") +
                "': directory '" + directory_.file("locked") +
                "': permission denied\nhint: name another file with --records PATH\n");
}

// A file system of so many bytes at $D/small, where the test may make one.
class SmallDisk : public Output {
 protected:
  bool mount_of(const std::string& size) {
    std::filesystem::create_directory(place_);
    mounted_ = ::mount("none", place_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    return mounted_;
  }
  ~SmallDisk() override {
    if (mounted_) ::umount(place_.c_str());
  }

  const std::string place_ = directory_.file("small");
  bool mounted_ = false;
};

TEST_F(SmallDisk, NoHalfFileIsLeftBehind) {
  if (!mount_of("4k")) GTEST_SKIP() << "this process may not mount a file system";
  const test::ProcessResult result = shell(
      "head -c 4096 /dev/zero > $D/small/filler; $A compile softmax:m=4,n=4 -o "
      "$D/small/kernel.so");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors.find("attune: error: cannot write '" + place_ + "/kernel.so': "), 0u)
      << result.errors;
  for (const auto& entry : std::filesystem::directory_iterator(place_)) {
    EXPECT_EQ(entry.path().filename(), "filler");
  }
}

TEST_F(SmallDisk, NoHalfModelIsLeftBehind) {
  if (!mount_of("1m")) GTEST_SKIP() << "this process may not mount a file system";
  ASSERT_EQ(shell("$A compile mlp -o $D/mlp.attune -q").status, 0);
  const std::string full = "': no space left on the disk\n";
  for (const std::string command :
       {"compile mlp -q -o $D/small/x", "zoo export mlp -q -o $D/small/x",
        "run mlp --output $D/small/x --input input=$D/none.npy"}) {
    const test::ProcessResult result = shell("$A " + command);
    EXPECT_EQ(result.status, 1) << command;
    if (command.find("none.npy") == std::string::npos) {
      EXPECT_EQ(result.errors.find("attune: error: cannot write '" + place_ + "/x" + full), 0u)
          << result.errors;
    }
    EXPECT_TRUE(std::filesystem::is_empty(place_)) << command;
  }
  const test::ProcessResult filled = shell(
      "head -c 2000000 /dev/zero > $D/small/filler; $A run $D/mlp.attune --output $D/small/out");
  EXPECT_EQ(filled.status, 1);
  EXPECT_EQ(filled.output, "");
  EXPECT_TRUE(std::filesystem::is_empty(place_ + "/out"));
}

// The file system is full after some rounds: they stay.
TEST_F(SmallDisk, TuningKeepsWhatWasRecorded) {
  if (!mount_of("320k")) GTEST_SKIP() << "this process may not mount a file system";
  const test::ProcessResult tuned = shell(
      "$A tune matmul:m=64,n=96,k=80 --threads 1 --trials 4000 -q --records $D/small/records.db");
  EXPECT_EQ(tuned.status, 1);
  EXPECT_EQ(tuned.errors,
            "attune: error: no space left on the disk of '" + place_ +
                "/records.db'\nhint: free some space and go on with --resume; what was recorded "
                "before is safe\n");
  const test::ProcessResult listed = shell("$A records list --records $D/small/records.db");
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_NE(listed.output, "");
}

TEST_F(Output, ANewerRecordsFileIsLeftAlone) {
  const std::string file = directory_.file("newer.db");
  ASSERT_EQ(shell("$A records prune --records $D/newer.db").status, 0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  std::string known;
  const auto take = [](void* into, int, char** columns, char**) {
    *static_cast<std::string*>(into) = columns[0];
    return 0;
  };
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version", take, &known, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const std::string before = directory_.read("newer.db");
  for (const std::string command :
       {"tune softmax:m=4,n=4 --trials 1", "bench softmax:m=4,n=4", "records list"}) {
    const test::ProcessResult result = shell("$A " + command + " --records $D/newer.db");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.errors,
              "attune: error: records file '" + file +
                  "' has schema version 99, this attune knows up to " + known +
                  "\n"
                  "hint: update attune, or name another file with --records PATH; it was not "
                  "changed\n");
  }
  for (const std::string model : {"softmax:m=4,n=4 --trials 1", "mlp --seconds 1 -o $D/x.attune"}) {
    const test::ProcessResult result =
        shell("$A tune " + model + " --records $D/own.db --history $D/newer.db");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.errors.substr(0, result.errors.find('\n')),
              "attune: error: records file '" + file +
                  "' has schema version 99, this attune knows up to " + known);
    EXPECT_NE(result.errors.find("hint: update attune, or name another file with --history PATH"),
              std::string::npos)
        << result.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_.file("x.attune")));
  }
  EXPECT_EQ(directory_.read("newer.db"), before);
}

}  // namespace
}  // namespace attune
