#include "base/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace attune {
namespace {

TEST(ScratchFolder, IsItsUsersAloneAndDoesNotStay) {
  std::string path;
  {
    const auto folder = ScratchFolder::make(), other = ScratchFolder::make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    ASSERT_TRUE(other.ok());
    path = folder->path();
    EXPECT_NE(path, other->path());
    struct stat status = {};
    ASSERT_EQ(::lstat(path.c_str(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace attune
