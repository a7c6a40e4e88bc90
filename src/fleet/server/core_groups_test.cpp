#include "fleet/server/core_groups.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;

// A folder that takes what is written, as the kernel would, and keeps it for us to see.
class FakeGroups : public ::testing::Test {
 protected:
  GroupPlace place(CgroupVersion version) const { return {version, root_.path().string()}; }
  std::string in(const std::string& group, const std::string& file) const {
    return root_.read(named(group) + "/" + file);
  }
  static std::string named(const std::string& group) { return "attune-7-ab-" + group; }
  void make_folder(const std::string& name) const { fs::create_directory(root_.path() / name); }
  bool has(const std::string& name) const { return fs::exists(root_.path() / name); }
  std::unique_ptr<OwnCoreGroups> make(CgroupVersion version) const {
    auto own = OwnCoreGroups::make(place(version), "attune-7-ab", {2, 0}, {{1}, {3, 4}});
    EXPECT_TRUE(own.ok()) << own.error().message;
    return own.ok() ? std::move(*own) : nullptr;
  }
  std::unique_ptr<CoreGroups> around(CgroupVersion version) const {
    return CoreGroups::around({version, root_.file(named("host"))});
  }

  test::TemporaryDirectory root_;
};

TEST_F(FakeGroups, OfVersion1HaveTheirCoresAndTheMemoryAround) {
  (void)root_.write("cpuset.effective_mems", "0-1\n");
  const auto own = make(CgroupVersion::V1);
  EXPECT_FALSE(own->isolates());
  EXPECT_EQ(in("host", "cpuset.cpus"), "0,2");
  EXPECT_EQ(in("host", "cpuset.mems"), "0-1");
  EXPECT_EQ(in("host", "cgroup.procs"), "0");
  EXPECT_EQ(in("cpu0", "cpuset.cpus"), "1");
  EXPECT_EQ(in("cpu1", "cpuset.cpus"), "3,4");
  EXPECT_FALSE(has(named("cpu0") + "/cpuset.cpus.partition"));
}

TEST_F(FakeGroups, OfVersion2AreThreadedAndTheControllerIsPassedDown) {
  (void)root_.write("cgroup.controllers", "cpuset cpu memory\n");
  (void)root_.write("cgroup.subtree_control", "");
  {
    const auto own = make(CgroupVersion::V2);
    EXPECT_EQ(root_.read("cgroup.subtree_control"), "+cpuset");
    EXPECT_EQ(in("host", "cgroup.type"), "threaded");
    EXPECT_EQ(in("host", "cpuset.cpus"), "0,2");
    EXPECT_EQ(in("cpu1", "cgroup.type"), "threaded");
    EXPECT_TRUE(own->isolates());
    EXPECT_EQ(in("cpu1", "cpuset.cpus.partition"), "member") << "nothing is measured yet";
  }
  EXPECT_EQ(root_.read("cgroup.procs"), "0") << "the process goes back";
}

TEST_F(FakeGroups, NeedTheController) {
  (void)root_.write("cgroup.controllers", "cpu memory\n");
  const auto own = OwnCoreGroups::make(place(CgroupVersion::V2), "attune-7-ab", {0}, {{1}});
  ASSERT_FALSE(own.ok());
  EXPECT_EQ(own.error().message,
            "the cpuset controller is not delegated to " + root_.path().string());
  const auto nowhere = OwnCoreGroups::make({CgroupVersion::V1, root_.file("none")}, "x", {0}, {});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "cannot make " + root_.file("none/x-host") + ": No such file or directory");
}

TEST_F(FakeGroups, AreEnteredByWhatHasAllCores) {
  const auto own = make(CgroupVersion::V1);
  const auto groups = around(CgroupVersion::V1);
  ASSERT_NE(groups, nullptr);
  EXPECT_EQ(groups->host_cores(), (std::vector<int>{0, 2}));
  EXPECT_EQ(groups->all_cores(), (std::vector<int>{0, 1, 2, 3, 4}));
  groups->enter(std::vector<int>{2});
  EXPECT_EQ(in("host", "tasks"), "0");
  groups->enter(std::vector<int>{3, 4});
  EXPECT_EQ(in("cpu1", "tasks"), "0");
  EXPECT_FALSE(has(named("cpu0") + "/tasks"));
  EXPECT_FALSE(has("tasks"));
  groups->enter(std::vector<int>{0, 1});
  EXPECT_EQ(root_.read("tasks"), "0") << "cores of several groups";
}

TEST_F(FakeGroups, ThatAreGoneAreEnteredOutside) {
  const auto own = make(CgroupVersion::V1);
  const auto groups = around(CgroupVersion::V1);
  fs::remove_all(root_.path() / named("cpu0"));
  groups->enter(std::vector<int>{1});
  EXPECT_EQ(root_.read("tasks"), "0");
}

TEST_F(FakeGroups, AreIsolatedWhileTheyMeasure) {
  (void)root_.write("cgroup.controllers", "cpuset");
  const auto own = make(CgroupVersion::V2);
  const auto groups = around(CgroupVersion::V2);
  groups->enter(std::vector<int>{0});
  EXPECT_FALSE(has(named("host") + "/cpuset.cpus.partition"));
  groups->enter(std::vector<int>{1});
  EXPECT_EQ(in("cpu0", "cgroup.threads"), "0");
  EXPECT_EQ(in("cpu0", "cpuset.cpus.partition"), "isolated");
  groups->leave(std::vector<int>{1});
  EXPECT_EQ(in("cpu0", "cpuset.cpus.partition"), "member");
  groups->enter(std::vector<int>{3, 4});
  own->release_all();
  EXPECT_EQ(in("cpu1", "cpuset.cpus.partition"), "member") << "its worker was killed";
}

TEST_F(FakeGroups, DoWithoutIsolationWhenItIsRefused) {
  (void)root_.write("cgroup.controllers", "cpuset");
  make_folder(named("cpu1"));
  make_folder(named("cpu1") + "/cpuset.cpus.partition");  // cannot be written
  const auto own = make(CgroupVersion::V2);
  EXPECT_FALSE(own->isolates());
  const auto groups = around(CgroupVersion::V2);
  groups->enter(std::vector<int>{3});
  EXPECT_EQ(in("cpu1", "cgroup.threads"), "0");
}

TEST_F(FakeGroups, AreSeenOnlyFromTheHostGroup) {
  EXPECT_EQ(CoreGroups::around(place(CgroupVersion::V1)), nullptr);
  for (const std::string name : {"attune-7-ab-cpu0", "attune-x-ab-host", "attune-7-host", "host"}) {
    make_folder(name);
    EXPECT_EQ(CoreGroups::around({CgroupVersion::V1, root_.file(name)}), nullptr) << name;
  }
}

TEST_F(FakeGroups, OfTheDeadAreRemovedWhenNothingRunsThere) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string gone = "attune-" + std::to_string(dead) + "-";
  const std::string alive = "attune-" + std::to_string(::getpid()) + "-";
  for (const std::string& owner : {gone + "1-", gone + "2-", alive + "1-"}) {
    make_folder(owner + "host");
    make_folder(owner + "cpu0");
  }
  make_folder(gone + "3-cpu0");
  make_folder("attune-notes");
  make_folder("other");
  (void)root_.write(gone + "2-host/busy", "");  // as little to be removed as a group with processes
  remove_leftover_groups(place(CgroupVersion::V1));
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(root_.path())) {
    left.insert(entry.path().filename());
  }
  EXPECT_EQ(left, (std::set<std::string>{gone + "2-host", gone + "2-cpu0", alive + "1-host",
                                         alive + "1-cpu0", "attune-notes", "other"}));
}

std::vector<int> cores_here() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

bool can_stand_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// What a scheduler and a worker do, in a process of their own: which step failed, 0 for none.
int live_in_groups(const GroupPlace& place, int host, int device) {
  auto own = OwnCoreGroups::make(place, core_groups_name("test"), {host}, {{device}});
  if (!own.ok()) return 1;
  const auto here = find_control_group("cpuset");
  if (!here.ok()) return 2;
  const auto groups = CoreGroups::around(*here);
  if (groups == nullptr || groups->all_cores().size() != 2) return 3;
  if (cores_here() != std::vector<int>{host} || can_stand_on(device)) return 4;
  groups->enter(std::vector<int>{device});
  if (cores_here() != std::vector<int>{device} || can_stand_on(host)) return 5;
  if (!can_stand_on(device)) return 6;
  // What is started there stays there, and does not keep the group from being removed.
  int pipe[2];
  if (::pipe(pipe) != 0) return 7;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool kept = cores_here() == std::vector<int>{device} && !can_stand_on(host);
    (void)!::write(pipe[1], "x", 1);
    ::_exit(kept ? 0 : 1);
  }
  char byte = 0;
  (void)!::read(pipe[0], &byte, 1);  // it lives, or is just ending
  groups->leave(std::vector<int>{device});
  groups->enter(std::vector<int>{host, device});
  if (!can_stand_on(host) || !can_stand_on(device)) return 8;
  const std::string folder = here->folder;
  own->reset();
  if (fs::exists(folder)) return 9;
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : 10;
}

// On this system, with two cores in the tests' place; a test that leaves groups behind fails.
class RealGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = find_control_group("cpuset");
    if (!found.ok()) GTEST_SKIP() << "not allowed here: " << found.error().message;
    place_ = *found;
    cores_ = cores_here();
    if (cores_.size() < 2) GTEST_SKIP() << "needs two cores, has " << cores_.size();
    const auto attempt =
        OwnCoreGroups::make(place_, core_groups_name("attempt"), {cores_[0]}, {{cores_[1]}});
    if (!attempt.ok()) GTEST_SKIP() << "not allowed here: " << attempt.error().message;
  }

  // In a process that may be moved about: its end, as waitpid says it.
  template <typename Life>
  int status_of(const Life& live) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(live());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    child_ = child;
    return status;
  }
  int groups_left() const { return groups_of(child_); }
  int groups_of(pid_t owner) const {
    const std::string start = "attune-" + std::to_string(owner) + "-";
    int left = 0;
    for (const auto& entry : fs::directory_iterator(place_.folder)) {
      if (entry.path().filename().string().starts_with(start)) ++left;
    }
    return left;
  }

  GroupPlace place_;
  std::vector<int> cores_;
  pid_t child_ = 0;  // the process
};

TEST_F(RealGroups, KeepThreadsAndProcessesOnTheirCores) {
  const int status = status_of([&] { return live_in_groups(place_, cores_[0], cores_[1]); });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
  EXPECT_EQ(groups_left(), 0);
  remove_leftover_groups(place_);
}

TEST_F(RealGroups, OfAKilledProcessAreRemovedByItsKeeper) {
  // The keeper becomes a child of this process, which can wait for it.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const int status = status_of([&] {
    const auto own =
        OwnCoreGroups::make(place_, core_groups_name("killed"), {cores_[0]}, {{cores_[1]}});
    if (own.ok() && groups_of(::getpid()) == 2) ::kill(::getpid(), SIGKILL);
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  while (::waitpid(-1, nullptr, 0) > 0) continue;
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(groups_left(), 0);
  remove_leftover_groups(place_);
}

}  // namespace
}  // namespace attune::server
