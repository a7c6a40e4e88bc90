#include "runtime/execution/usable_cores.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "runtime/execution/affinity.h"

namespace attune::runtime {
namespace {

constexpr const char* kUnified = "31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* kApart =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

// A tree that looks like a system with control groups, as far as it is looked at.
class CpuQuota : public testing::Test {
 protected:
  CpuQuota(const char* mounts, const char* groups) {
    write("/proc/self/mountinfo", mounts);
    write("/proc/self/cgroup", groups);
  }
  CpuQuota() : CpuQuota(kUnified, "0::/jobs/mine\n") {}

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root() + name).parent_path());
    std::ofstream(root() + name) << text;
  }
  std::string root() const { return folder_.path().string(); }
  std::optional<double> quota() const { return cpu_quota(root()); }

 private:
  test::TemporaryDirectory folder_;
};

class CpuQuotaOfVersion1 : public CpuQuota {
 protected:
  CpuQuotaOfVersion1() : CpuQuota(kApart, "4:cpu,cpuacct:/jobs/mine\n0::/\n") {}
  void limit(const std::string& group, const char* time_us) const {
    write("/sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", time_us);
    write("/sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", "100000\n");
  }
};

TEST_F(CpuQuota, IsTheTimeInEachPeriod) {
  write("/sys/fs/cgroup/jobs/mine/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4);
  write("/sys/fs/cgroup/jobs/mine/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(CpuQuota, OfGroupsAroundItHoldsToo) {
  write("/sys/fs/cgroup/jobs/mine/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/jobs/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("/sys/fs/cgroup/cpu.max", "2000000 1000000\n");  // a container's own root
  EXPECT_EQ(quota(), 2);
}

TEST_F(CpuQuota, IsNoneWhereNothingSaysSo) {
  EXPECT_EQ(quota(), std::nullopt);
  for (const char* text : {"max 100000\n", "max\n", "", "nonsense\n", "0 0\n", "100000 0\n"}) {
    write("/sys/fs/cgroup/jobs/mine/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
  write("/proc/self/cgroup", "");
  EXPECT_EQ(quota(), std::nullopt);
  EXPECT_EQ(cpu_quota("/no/such/root"), std::nullopt);
}

TEST_F(CpuQuotaOfVersion1, IsTheTimeInEachPeriod) {
  EXPECT_EQ(quota(), std::nullopt);
  limit("/jobs/mine", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
  limit("/jobs/mine", "250000\n");
  EXPECT_EQ(quota(), 2.5);
  limit("/jobs", "50000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST(UsableCores, AreAsManyAsThereIsTimeFor) {
  const std::vector<int> all = {0, 1, 4, 5};
  EXPECT_EQ(cores_within(all, std::nullopt), all);
  EXPECT_EQ(cores_within(all, 64), all);
  EXPECT_EQ(cores_within(all, 4), all);
  EXPECT_EQ(cores_within(all, 2.5), (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(cores_within(all, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(cores_within(all, 0.1), std::vector<int>{0});
}

TEST(UsableCores, AreMoreWhereMoreThreadsAreAskedFor) {
  const std::vector<int> allowed = allowed_cores(), usable = usable_cores();
  ASSERT_FALSE(usable.empty());
  EXPECT_LE(usable.size(), allowed.size());
  EXPECT_EQ(usable_cores(1), usable);
  EXPECT_EQ(usable_cores(static_cast<int>(allowed.size()) + 7), allowed);
}

}  // namespace
}  // namespace attune::runtime
