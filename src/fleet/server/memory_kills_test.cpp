#include "fleet/server/memory_kills.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

class MemoryKills : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root() + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string root() const { return folder_.path().string(); }

  test::TemporaryDirectory folder_;
};

TEST_F(MemoryKills, AreThoseOfItsGroup) {
  write("/proc/self/cgroup", "12:memory:/old\n0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.events", "low 0\nhigh 3\nmax 17\noom 2\noom_kill 5\n");
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 99\n");
  EXPECT_EQ(count_memory_kills(root()), 5);
}

TEST_F(MemoryKills, AreThoseOfTheMachineWhereItsGroupDoesNotSay) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 99\nswap_ra 1\n");
  EXPECT_EQ(count_memory_kills(root()), 99);
}

TEST_F(MemoryKills, AreNotKnownEverywhere) {
  EXPECT_EQ(count_memory_kills(root()), std::nullopt);
  write("/proc/vmstat", "nr_free_pages seven\n");
  EXPECT_EQ(count_memory_kills(root()), std::nullopt);
}

}  // namespace
}  // namespace attune::server
