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

}  // namespace
}  // namespace attune
