#include "fleet/server/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(PrivateFolder, IsClosedToOthersWithAllThatIsInIt) {
  const test::TemporaryDirectory place;
  const std::string folder = place.file("state");
  std::filesystem::create_directories(folder + "/jobs/j1");
  place.write("state/scheduler.db", "x");
  place.write("state/jobs/j1/records.db", "x");
  place.write("state/notes.txt", "x");
  place.write("elsewhere", "x");
  std::filesystem::create_symlink(place.file("elsewhere"), folder + "/link");
  for (const std::string path : {"", "/jobs", "/jobs/j1"}) {
    ASSERT_EQ(::chmod((folder + path).c_str(), 0755), 0);
  }
  for (const std::string path : {"/scheduler.db", "/jobs/j1/records.db"}) {
    ASSERT_EQ(::chmod((folder + path).c_str(), 0644), 0);
  }
  for (const char* path : {"elsewhere", "state/notes.txt"}) {
    ASSERT_EQ(::chmod(place.file(path).c_str(), 0644), 0);
  }
  std::filesystem::create_symlink(place.file("elsewhere"), folder + "/worker-0.log");
  std::filesystem::create_symlink(place.path(), folder + "/jobs/j2");
  ASSERT_TRUE(make_private_folder(folder).ok());
  for (const std::string path : {"", "/jobs", "/jobs/j1"}) EXPECT_EQ(mode_of(folder + path), 0700u);
  for (const std::string path : {"/scheduler.db", "/jobs/j1/records.db"}) {
    EXPECT_EQ(mode_of(folder + path), 0600u) << path;
  }
  EXPECT_EQ(mode_of(place.file("elsewhere")), 0644u) << "it is not in the folder";
  EXPECT_EQ(mode_of(folder + "/notes.txt"), 0644u) << "no scheduler made it";
}

TEST(PrivateFolder, ThatWasNeverASchedulersIsRefusedAndStaysAsItIs) {
  const test::TemporaryDirectory place;
  const std::string folder = place.file("project");
  std::filesystem::create_directories(folder + "/src");
  place.write("project/src/main.c", "x");
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder + "/src/main.c").c_str(), 0644), 0);
  const Status status = make_private_folder(folder);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "'" + folder + "' is not empty and no folder of a scheduler");
  EXPECT_EQ(status.error().hint, "name another folder with --state DIR");
  EXPECT_EQ(mode_of(folder), 0755u);
  EXPECT_EQ(mode_of(folder + "/src/main.c"), 0644u);
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  EXPECT_FALSE(make_private_folder(folder).ok()) << "closed or not";
}

TEST(PrivateFolder, WithAMeasurementForASchedulerIsOne) {
  const test::TemporaryDirectory place;
  const std::string folder = place.file("state");
  ASSERT_TRUE(make_private_folder(folder).ok());
  place.write("state/colocation.json", "{}");
  EXPECT_TRUE(make_private_folder(folder).ok());
}

TEST(PrivateFolder, IsMadeWhereItIsMissing) {
  const test::TemporaryDirectory place;
  ASSERT_TRUE(make_private_folder(place.file("a/b/state")).ok());
  EXPECT_EQ(mode_of(place.file("a/b/state")), 0700u);
}

TEST(PrivateFolder, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder to another user";
  const test::TemporaryDirectory place;
  const std::string folder = place.file("state");
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  const Status status = make_private_folder(folder);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "'" + folder + "' is nobody's, a scheduler of root cannot use it");
}

TEST(SharedFolder, IsForItsGroup) {
  const test::TemporaryDirectory place;
  const std::string folder = place.file("state.shared");
  ASSERT_TRUE(make_shared_folder(folder, ::getegid()).ok());
  EXPECT_EQ(mode_of(folder), 0750u);
  const auto nobody = find_group("no group is called so");
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().message, "there is no group 'no group is called so'");
}

}  // namespace
}  // namespace attune::server
