#include "base/sync_folder.h"

#include <gtest/gtest.h>

#include "base/temporary_directory_testing.h"

namespace attune {
namespace {

TEST(SyncFolder, IsOfFolders) {
  const test::TemporaryDirectory folder;
  EXPECT_TRUE(sync_folder(folder.path()).ok());
  EXPECT_TRUE(sync_folder(folder.file("gone")).ok());
  folder.write("file", "x");
  EXPECT_EQ(sync_folder(folder.file("file")).error().message,
            "cannot sync folder '" + folder.file("file") + "': Not a directory");
}

TEST(SyncFolder, AndOfFiles) {
  const test::TemporaryDirectory folder;
  folder.write("file", "x");
  EXPECT_TRUE(sync_file(folder.file("file")).ok());
  EXPECT_EQ(sync_file(folder.file("gone")).error().message,
            "cannot sync file '" + folder.file("gone") + "': No such file or directory");
}

}  // namespace
}  // namespace attune
