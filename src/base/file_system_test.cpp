#include "base/file_system.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/temporary_directory_testing.h"

namespace attune {
namespace {

constexpr std::string_view kMounts =
    "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
    "23 22 0:21 / /home/me/far rw shared:4 master:1 - fuse.sshfs me@host: rw,user_id=0\n"
    "24 22 0:22 / /home/me/safe rw - fuse.gocryptfs /home/me/.safe rw\n"
    "25 22 0:23 / /shared rw - virtiofs shared rw\n"
    "26 22 0:24 / /odd rw\n";
constexpr std::uint32_t kFuse = 0x65735546;

TEST(FileSystem, NumbersTellWhatIsServedByOthers) {
  const struct {
    std::uint32_t number;
    std::optional<std::string> name;
  } kinds[] = {
      {0x6969, "nfs"},
      {0xff534d42, "cifs"},
      {0xfe534d42, "smb2"},
      {0x517b, "smb"},
      {0x01021997, "9p"},
      {0x0bd00bd0, "lustre"},
      {0xef53, std::nullopt},  // ext4
      {0x58465342, std::nullopt} /* xfs */,
      {0x9123683e, std::nullopt} /* btrfs */,
      {0x01021994, std::nullopt} /* tmpfs */,
      {0x794c7630, std::nullopt} /* overlay */,
  };
  for (const auto& kind : kinds) {
    EXPECT_EQ(network_file_system(kind.number, 0, ""), kind.name) << std::hex << kind.number;
  }
}

TEST(FileSystem, OfProcessesTheMountsTellMore) {
  const auto kind = [](unsigned minor) {
    return network_file_system(kFuse, gnu_dev_makedev(0, minor), kMounts);
  };
  EXPECT_EQ(kind(21), "fuse.sshfs");
  EXPECT_EQ(kind(22), std::nullopt) << "an encrypted folder of this machine";
  EXPECT_EQ(kind(23), "virtiofs");
  EXPECT_EQ(kind(24), std::nullopt) << "a line that is cut short";
  EXPECT_EQ(kind(99), std::nullopt) << "not in the list";
}

TEST(FileSystem, IsLookedAtWhereTheFileWillLie) {
  const test::TemporaryDirectory folder;
  ::unsetenv("ATTUNE_FILE_SYSTEM");
  const auto here = network_file_system(folder.path().string());
  EXPECT_EQ(network_file_system(folder.file("not/there/yet.db")), here);
  EXPECT_EQ(network_file_system("/proc/self/status"), std::nullopt);
  ::setenv("ATTUNE_FILE_SYSTEM", "nfs", 1);
  EXPECT_EQ(network_file_system(folder.file("a.db")), "nfs");
  ::setenv("ATTUNE_FILE_SYSTEM", "local", 1);
  EXPECT_EQ(network_file_system(folder.file("a.db")), std::nullopt);
  ::unsetenv("ATTUNE_FILE_SYSTEM");
}

}  // namespace
}  // namespace attune
