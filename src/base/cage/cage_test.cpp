#include "base/cage/cage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "base/cage/host_calls.h"

namespace attune {
namespace {

constexpr CageRules kRules{.calls = kHostCalls};
constexpr int kTrapped = 77;

[[noreturn]] void leave_trapped(int) { ::_exit(kTrapped); }

// How a child ends that enters a cage and does this; its result is the exit status.
int in_cage(const CageRules& rules, const CageOptions& options, const std::function<int()>& work) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    begin_own_group(parent);
    (void)::signal(SIGSYS, leave_trapped);
    if (!enter_cage(rules, options).ok()) ::_exit(1);
    ::_exit(work());
  }
  const std::optional<int> status = await_exit(child, 60'000);
  EXPECT_TRUE(status.has_value());
  if (!status) return -1;
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : -WTERMSIG(*status);
}
int in_cage(const std::function<int()>& work) { return in_cage(kRules, {}, work); }

class CageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  }
};

TEST_F(CageTest, WorkGoesOn) {
  EXPECT_EQ(in_cage([] {
              std::vector<int> numbers(1 << 20, 1);
              return numbers[12345] == 1 && ::write(STDERR_FILENO, "", 0) == 0 ? 0 : 1;
            }),
            0);
}

TEST_F(CageTest, EverythingElseIsTrapped) {
  EXPECT_EQ(in_cage([] { return ::fork() == 0 ? 3 : 4; }), kTrapped);
  EXPECT_EQ(in_cage([] { return ::open("/dev/null", O_RDONLY); }), kTrapped);
  EXPECT_EQ(in_cage([] { return ::socket(AF_INET, SOCK_STREAM, 0); }), kTrapped);
  EXPECT_EQ(in_cage([] { return ::kill(::getppid(), 0); }), kTrapped);
  EXPECT_EQ(in_cage([] { return ::execl("/bin/true", "true", nullptr); }), kTrapped);
  EXPECT_EQ(in_cage([] { return static_cast<int>(::syscall(99999)); }), kTrapped);
}

TEST_F(CageTest, ArgumentsAreLookedAt) {
  EXPECT_EQ(in_cage([]() -> int { ::abort(); }), -SIGABRT);
  EXPECT_EQ(in_cage([] { return ::raise(SIGKILL); }), kTrapped);
  EXPECT_EQ(in_cage([] {
              return static_cast<int>(::syscall(SYS_tgkill, ::getppid(), ::getppid(), SIGABRT));
            }),
            kTrapped);
}

TEST_F(CageTest, ARefusalLeavesTheProcessAlive) {
  EXPECT_EQ(in_cage([] { return ::isatty(STDERR_FILENO) == 0 && errno == EPERM ? 0 : 1; }), 0);
}

TEST_F(CageTest, ThreadsAreARuleOfTheirOwn) {
  const auto start_thread = [] {
    std::thread([] {}).join();
    return 0;
  };
  EXPECT_EQ(in_cage(start_thread), kTrapped);
  CageRules threads = kRules;
  threads.starts_threads = true;
  EXPECT_EQ(in_cage(threads, {}, start_thread), 0);
  EXPECT_EQ(in_cage(threads, {}, [] { return ::fork() == 0 ? 3 : 4; }), kTrapped);
}

TEST_F(CageTest, ThreadsThatAreThereAreCaughtToo) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::signal(SIGSYS, leave_trapped);
    std::atomic<bool> ready = false, go = false;
    std::thread other([&] {
      ready = true;
      while (!go) std::this_thread::yield();
      (void)::open("/dev/null", O_RDONLY);
    });
    while (!ready) std::this_thread::yield();  // a thread that begins makes calls of its own
    if (!enter_cage(kRules, {}).ok()) ::_exit(1);
    go = true;
    other.join();
    ::_exit(2);
  }
  const std::optional<int> status = await_exit(child, 60'000);
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status)) << *status;
  EXPECT_EQ(WEXITSTATUS(*status), kTrapped);
}

TEST_F(CageTest, MemoryHasAHardLimit) {
  constexpr CallRule kLimits[] = {{.name = "prlimit64"}};
  const CageOptions options{.own_calls = kLimits, .memory_bytes = 64 << 20};
  EXPECT_EQ(in_cage(kRules, options,
                    [] {
                      const rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
                      if (::setrlimit(RLIMIT_AS, &more) == 0) return 1;
                      return ::malloc(128 << 20) == nullptr ? 0 : 2;
                    }),
            0);
  EXPECT_EQ(in_cage(kRules, options, [] { return ::malloc(8 << 20) == nullptr ? 1 : 0; }), 0);
}

TEST(CageParts, AreNamedWhereTheyAreMissing) {
  const std::vector<std::string> missing = missing_cage_parts();
  const bool said = std::find(missing.begin(), missing.end(),
                              "system calls are not filtered (no seccomp)") != missing.end();
  EXPECT_EQ(said, !can_filter_calls());
}

TEST(Group, EndsWithEverythingInIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::getpid();
  const pid_t leader = ::fork();
  if (leader == 0) {
    begin_own_group(parent);
    if (::fork() == 0) {
      (void)!::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char said = 0;
  ASSERT_EQ(::read(ends[0], &said, 1), 1);
  EXPECT_TRUE(end_group(leader).has_value());
  EXPECT_EQ(::read(ends[0], &said, 1), 0);  // the last one that held it is gone
  ::close(ends[0]);
}

TEST(Group, StraysAreEndedByWhoeverInheritsThem) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t reaper = ::fork();
  if (reaper == 0) {
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ready[2];
    if (::pipe(ready) != 0) ::_exit(1);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::fork() == 0) {
        (void)::setsid();
        (void)!::write(ready[1], "x", 1);
        for (;;) ::pause();
      }
      ::_exit(0);
    }
    char said = 0;
    if (::read(ready[0], &said, 1) != 1) ::_exit(1);
    (void)await_exit(child, 60'000);
    end_children_but(-1);
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char said = 0;
  EXPECT_EQ(::read(ends[0], &said, 1), 0);  // nobody holds it any more
  EXPECT_TRUE(end_group(reaper).has_value());
  ::close(ends[0]);
}

TEST(Group, AWaitHasAnEnd) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_FALSE(await_exit(child, 20).has_value());
  const std::optional<int> status = end_group(child);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WTERMSIG(*status), SIGKILL);
}

}  // namespace
}  // namespace attune
