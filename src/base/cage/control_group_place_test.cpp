#include "base/cage/control_group_place.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

constexpr const char* kHybridMounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* kUnifiedMounts =
    "24 1 0:22 / /sys rw,nosuid - sysfs sysfs rw\n"
    "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n";

GroupPlace found(std::string_view mounts, std::string_view groups) {
  const auto place = find_control_group("cpuset", mounts, groups);
  EXPECT_TRUE(place.ok()) << place.error().message;
  return place.ok() ? *place : GroupPlace();
}

std::string refusal(std::string_view mounts, std::string_view groups) {
  const auto place = find_control_group("cpuset", mounts, groups);
  EXPECT_FALSE(place.ok()) << place->folder;
  return place.ok() ? "" : place.error().message;
}

TEST(FindControlGroup, PrefersTheHierarchyThatHasTheController) {
  EXPECT_EQ(found(kHybridMounts, "3:cpuset:/\n1:cpu,cpuacct:/jobs\n0::/other\n"),
            (GroupPlace{CgroupVersion::V1, "/sys/fs/cgroup/cpuset"}));
  EXPECT_EQ(found(kHybridMounts, "0::/other\n3:cpu,cpuset:/a/b\n").folder,
            "/sys/fs/cgroup/cpuset/a/b");
  EXPECT_EQ(found(kHybridMounts, "1:cpu,cpuacct:/jobs\n0::/other\n"),
            (GroupPlace{CgroupVersion::V2, "/sys/fs/cgroup/unified/other"}));
}

TEST(FindControlGroup, ControllersMayHaveDifferentHierarchies) {
  const std::string mounts =
      std::string(kHybridMounts) + "42 31 0:39 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
  const std::string groups = "5:pids:/p\n3:cpuset:/c\n0::/other\n";
  EXPECT_EQ(find_control_group("pids", mounts, groups)->folder, "/sys/fs/cgroup/pids/p");
  EXPECT_EQ(*find_control_group("memory", mounts, groups),
            (GroupPlace{CgroupVersion::V2, "/sys/fs/cgroup/unified/other"}));
}

TEST(FindControlGroup, FindsTheOneHierarchyOfVersion2) {
  EXPECT_EQ(found(kUnifiedMounts, "0::/user.slice/run-1:2.scope\n"),
            (GroupPlace{CgroupVersion::V2, "/sys/fs/cgroup/user.slice/run-1:2.scope"}));
  EXPECT_EQ(found(kUnifiedMounts, "0::/\n").folder, "/sys/fs/cgroup");
}

TEST(FindControlGroup, TakesPathsFromTheRootOfTheMount) {
  const std::string mounts = "34 31 0:31 /box/7 /cg rw - cgroup cgroup rw,cpuset\n";
  EXPECT_EQ(found(mounts, "3:cpuset:/box/7\n").folder, "/cg");
  EXPECT_EQ(found(mounts, "3:cpuset:/box/7/inner\n").folder, "/cg/inner");
  const std::string outside = "the control group '/box/77' is not in what is mounted";
  EXPECT_EQ(refusal(mounts, "3:cpuset:/box/77\n"), outside);
  EXPECT_EQ(refusal(kUnifiedMounts, "0::/../sibling\n"),
            "the control group '/../sibling' is not in what is mounted");
  // A second mount may show it.
  EXPECT_EQ(found(mounts + "35 31 0:31 / /all rw - cgroup cgroup rw,cpuset\n", "3:cpuset:/box/77\n")
                .folder,
            "/all/box/77");
}

TEST(FindControlGroup, ReadsEscapedBlanks) {
  EXPECT_EQ(
      found("9 1 0:1 /a\\040b /my\\040groups\\134x rw - cgroup2 none rw\n", "0::/a b/c d\n").folder,
      "/my groups\\x/c d");
}

TEST(FindControlGroup, SaysWhatIsMissing) {
  EXPECT_EQ(refusal(kUnifiedMounts, ""), "this system has no control groups for cpuset");
  EXPECT_EQ(refusal(kUnifiedMounts, "5:pids:/x\nnonsense\n"),
            "this system has no control groups for cpuset");
  EXPECT_EQ(refusal("", "0::/\n"), "the control groups for cpuset are not mounted");
  EXPECT_EQ(refusal(kUnifiedMounts, "3:cpuset:/\n0::/\n"),
            "the control groups for cpuset are not mounted");
  EXPECT_EQ(refusal("9 1 0:1 / /x rw -\n9 1\n\n- cgroup2 a b\n", "0::/\n"),
            "the control groups for cpuset are not mounted");
}

}  // namespace
}  // namespace attune
