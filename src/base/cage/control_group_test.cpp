#include "base/cage/control_group.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/cage/cage.h"
#include "base/temporary_directory_testing.h"

namespace attune {
namespace {

// A folder that looks like a hierarchy of control groups, as far as it is looked at.
class PretendedGroups : public ::testing::Test {
 protected:
  PretendedGroups() {
    write("slice/cgroup.procs", "");
    write("slice/cgroup.type", "domain\n");
    write("slice/cgroup.controllers", "cpu memory pids\n");
    write("slice/cgroup.subtree_control", "memory pids\n");
    write("slice/here/cgroup.type", "domain\n");
    write("slice/here/memory.max", "max\n");
    write("slice/here/cpu.max", "max 100000\n");
  }
  void write(const std::string& name, const std::string& value) const {
    std::filesystem::create_directories(std::filesystem::path(root_.file(name)).parent_path());
    EXPECT_TRUE(write_group_value(root_.file(name), value).ok());
  }
  auto make(CgroupVersion version = CgroupVersion::V2) const {
    return ControlGroup::make({version, root_.file("slice/here")});
  }
  std::string refusal(CgroupVersion version = CgroupVersion::V2) const {
    const auto group = make(version);
    return group.ok() ? "it is made" : group.error().message;
  }

  test::TemporaryDirectory root_;
};

TEST_F(PretendedGroups, LieBesideOnesOwnWithLimits) {
  const auto group = make();
  ASSERT_TRUE(group.ok()) << group.error().message;
  const std::string& folder = (*group)->folder();
  EXPECT_EQ(std::filesystem::path(folder).parent_path(), root_.file("slice"));
  ASSERT_TRUE((*group)->limit({.memory_bytes = 1 << 20, .processes = 7}).ok());
  ASSERT_TRUE((*group)->enter().ok());
  EXPECT_EQ(read_group_value(folder + "/memory.max"), "1048576");
  EXPECT_EQ(read_group_value(folder + "/pids.max"), "7");
  EXPECT_EQ(read_group_value(folder + "/cgroup.procs"), "0");
  EXPECT_EQ((*group)->ended_for_memory(), 0);
  ASSERT_TRUE(write_group_value(folder + "/memory.events", "max 9\noom 3\noom_kill 2\n").ok());
  EXPECT_EQ((*group)->ended_for_memory(), 2);
  ASSERT_TRUE((*group)->limit({}).ok());
  EXPECT_EQ(read_group_value(folder + "/memory.max"), "max");
}

TEST_F(PretendedGroups, OfOneMakerAreToldApart) {
  const auto one = make(), other = make();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE((*one)->folder(), (*other)->folder());
}

TEST_F(PretendedGroups, AreRemovedByWhoeverMadeThem) {
  auto group = make();
  ASSERT_TRUE(group.ok());
  const std::string folder = (*group)->folder();
  const pid_t child = ::fork();
  if (child == 0) {
    group->reset();
    ::_exit(0);
  }
  ASSERT_TRUE(await_exit(child, 60'000).has_value());
  EXPECT_TRUE(std::filesystem::exists(folder));
  group->reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(PretendedGroups, OfMakersThatWereKilledAreRemovedByTheNext) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto made = make();
    ::_exit(made.ok() ? 0 : 1);  // without the end of a lifetime
  }
  ASSERT_TRUE(await_exit(child, 60'000).has_value());
  const auto groups_of_it = [&] {
    int number = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root_.file("slice"))) {
      const std::string name = entry.path().filename().string();
      number += name.starts_with("attune-cage-" + std::to_string(child)) ? 1 : 0;
    }
    return number;
  };
  EXPECT_EQ(groups_of_it(), 1);
  ASSERT_TRUE(make().ok());
  EXPECT_EQ(groups_of_it(), 0);
}

TEST_F(PretendedGroups, AreNotMadeWhereLimitsWouldBeLeftBehind) {
  write("slice/here/memory.max", "4294967296\n");
  EXPECT_EQ(refusal(), "the control group " + root_.file("slice/here") +
                           " has a limit of its own (memory.max 4294967296)");
  write("slice/here/memory.max", "max\n");
  write("slice/here/cpu.max", "50000 100000\n");
  EXPECT_EQ(refusal(), "the control group " + root_.file("slice/here") +
                           " has a limit of its own (cpu.max 50000 100000)");
}

TEST_F(PretendedGroups, AreNotMadeWithoutTheControllers) {
  write("slice/cgroup.subtree_control", "memory\n");
  write("slice/cgroup.controllers", "memory\n");
  EXPECT_EQ(refusal(), "the pids controller is not passed down by " + root_.file("slice"));
  EXPECT_EQ(refusal(CgroupVersion::V1),
            "the memory controller is not in version 2 of control groups");
  std::filesystem::remove(root_.file("slice/cgroup.procs"));
  EXPECT_EQ(refusal(), "the control groups in " + root_.file("slice") + " are not this user's");
}

TEST_F(PretendedGroups, HaveTheControllersPassedDownWhereThatIsAllowed) {
  write("slice/cgroup.subtree_control", "memory\n");
  EXPECT_TRUE(make().ok());
  EXPECT_EQ(read_group_value(root_.file("slice/cgroup.subtree_control")), "+pids");
}

// Of the system itself, where it lets us.
TEST(ControlGroupHere, HoldsMemoryAndProcesses) {
  if (!kCanLimitMemory) GTEST_SKIP() << "memory is not limited under this sanitizer";
  auto made = ControlGroup::make();
  if (!made.ok()) GTEST_SKIP() << made.error().message;
  const ControlGroup& group = **made;
  ASSERT_TRUE(group.limit({.memory_bytes = 64 << 20, .processes = 1}).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    if (!group.enter().ok()) ::_exit(3);
    if (::fork() >= 0) ::_exit(4);
    constexpr std::size_t kBytes = 256 << 20;
    volatile char* const memory = static_cast<char*>(std::malloc(kBytes));
    for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
    ::_exit(5);
  }
  const std::optional<int> status = await_exit(child, 60'000);
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFSIGNALED(*status)) << WEXITSTATUS(*status);
  EXPECT_EQ(group.ended_for_memory(), 1);
  const std::string folder = group.folder();
  made->reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace attune
