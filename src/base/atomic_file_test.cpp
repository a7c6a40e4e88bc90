#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/temporary_directory_testing.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return directory_.file(name); }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(AtomicFileTest, WritesAndReplaces) {
  ASSERT_TRUE(write_file_atomically(at("a"), "one").ok());
  EXPECT_EQ(content(at("a")), "one");
  ASSERT_EQ(::chmod(at("a").c_str(), 0640), 0);
  const std::string big(300000, 'x');
  ASSERT_TRUE(write_file_atomically(at("a"), big).ok());
  EXPECT_EQ(content(at("a")), big);
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, TakesAnotherFile) {
  ASSERT_TRUE(write_file_atomically(at("a"), "old").ok());
  ASSERT_EQ(::chmod(at("a").c_str(), 0640), 0);
  ASSERT_TRUE(write_file_atomically(at("b"), "new").ok());
  {
    Result<AtomicFile> file = AtomicFile::create(at("a"));
    ASSERT_TRUE(file.ok());
    EXPECT_FALSE(file->take(at("missing")).ok());
    ASSERT_TRUE(file->take(at("b")).ok());
    EXPECT_EQ(content(at("a")), "old");
    ASSERT_TRUE(file->commit().ok());
  }
  EXPECT_EQ(content(at("a")), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1u);
}

// /dev/shm is another file system than the temporary directory, where there is one.
TEST_F(AtomicFileTest, TakesAFileOfAnotherFileSystem) {
  const fs::path other = "/dev/shm/attune_atomic_" + std::to_string(::getpid());
  const std::string bytes(200000, 'x');
  std::ofstream(other, std::ios::binary) << bytes;
  if (!fs::exists(other)) GTEST_SKIP() << "there is no /dev/shm to write to";
  Result<AtomicFile> file = AtomicFile::create(at("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->take(other).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content(at("a")), bytes);
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  ASSERT_TRUE(write_file_atomically(at("a"), "old").ok());
  {
    Result<AtomicFile> file = AtomicFile::create(at("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(std::string(200000, 'n')).ok());
    EXPECT_EQ(content(at("a")), "old");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(content(at("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, FollowsSymbolicLinks) {
  ASSERT_TRUE(write_file_atomically(at("real"), "1").ok());
  fs::create_symlink("real", at("link"));
  ASSERT_TRUE(write_file_atomically(at("link"), "2").ok());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(content(at("real")), "2");
}

TEST_F(AtomicFileTest, WritesDevicesDirectly) {
  ASSERT_TRUE(write_file_atomically("/dev/null", "gone").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, FullDiskIsNamed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Status status = write_file_atomically("/dev/full", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(status.error().message, "cannot write '/dev/full': no space left on the disk");
  EXPECT_EQ(status.error().hint,
            "free some space and try again; what was there before is unchanged");
}

TEST_F(AtomicFileTest, MissingDirectoryAndDirectoryAsTarget) {
  const Status missing = write_file_atomically(at("no/such"), "x");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "cannot write '" + at("no/such") + "': directory '" + at("no") + "' does not exist");
  const Status directory = write_file_atomically(directory_.path().string(), "x");
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().message,
            "cannot write '" + directory_.path().string() + "': it is a directory");
  ASSERT_TRUE(write_file_atomically(at("a"), "x").ok());
  const Status below_file = write_file_atomically(at("a/b"), "x");
  ASSERT_FALSE(below_file.ok());
  EXPECT_EQ(below_file.error().message,
            "cannot write '" + at("a/b") + "': '" + at("a") + "' is not a directory");
  EXPECT_FALSE(write_file_atomically("", "x").ok());
}

// Root may write anywhere, so that the attempt is made by a child that gave its rights away.
TEST_F(AtomicFileTest, NoPermissionIsNamed) {
  fs::create_directory(at("locked"));
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(at("locked").c_str(), 0555), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
    const Status status = write_file_atomically(at("locked/a"), "x");
    const bool as_expected =
        !status.ok() &&
        status.error().message == "cannot write '" + at("locked/a") + "': permission denied" &&
        status.error().hint == "choose a place you may write to";
    ::_exit(as_expected ? 0 : 1);
  }
  int code = 0;
  ASSERT_EQ(::waitpid(child, &code, 0), child);
  EXPECT_TRUE(WIFEXITED(code));
  EXPECT_EQ(WEXITSTATUS(code), 0);
}

}  // namespace
}  // namespace attune
