// Kernels that mean harm: each is contained, has an outcome that says what it did, and leaves the
// measurements before and after it alone.
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/cage/call_filter.h"
#include "tuner/measure/probe/runner_testing.h"

namespace attune::probe {
namespace {

class HostileKernelTest : public RunnerTest {
 protected:
  static void SetUpTestSuite() {
    RunnerTest::SetUpTestSuite();
    hostile_ = object("hostile");
  }
  void SetUp() override {
    if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  }

  static Candidate hostile(const std::string& symbol) {
    Candidate one = candidate(hostile_, symbol);
    one.verification = sums(1);
    return one;
  }
  static MeasureOptions impatient() {
    MeasureOptions options = quick();
    options.timeout_ms = 300.0;
    return options;
  }
  static std::string told_of(const std::string& symbol) {
    return describe(outcome_of(hostile(symbol), impatient()));
  }
  static std::string called(const std::string& name) {
    return "crashed in run: called " + name + ", which kernels may not";
  }

  static inline Bytes hostile_;
};

TEST_F(HostileKernelTest, StartsNoProcess) {
  EXPECT_EQ(told_of("fork_and_stay"), called("clone"));
  EXPECT_EQ(told_of("execute"), called("execve"));
  EXPECT_EQ(told_of("start_thread"), called("clone"));
}

TEST_F(HostileKernelTest, ReachesNoFileAndNoNetwork) {
  EXPECT_EQ(told_of("open_file"), called("openat"));
  EXPECT_EQ(told_of("connect_out"), called("socket"));
  EXPECT_EQ(told_of("share_memory"), called("memfd_create"));
  EXPECT_EQ(told_of("queue_work"), called("io_uring_setup"));
}

TEST_F(HostileKernelTest, ReachesNoOtherProcess) {
  EXPECT_EQ(told_of("trace"), called("ptrace"));
  EXPECT_EQ(told_of("signal_others"), called("kill"));
  EXPECT_EQ(told_of("stop_parent"), called("getppid"));
  EXPECT_EQ(told_of("kill_itself"), called("tgkill"));
}

TEST_F(HostileKernelTest, DoesNotLeaveItsPlace) {
  EXPECT_EQ(told_of("leave_namespace"), called("unshare"));
  EXPECT_EQ(told_of("move_away"), called("sched_setaffinity"));
  EXPECT_EQ(told_of("ignore_signals"), called("rt_sigaction"));
  EXPECT_EQ(told_of("call_with_blocked_signals"),
            "crashed in run: fatal signal 31 (Bad system call)");
  EXPECT_EQ(told_of("call_the_old_way").substr(0, 14), "crashed in run");
}

TEST_F(HostileKernelTest, TakesNoMoreMemoryThanItMay) {
  MeasureOptions options = impatient();
  options.timeout_ms = 20'000.0;
  options.memory_limit_bytes = 256 << 20;
  EXPECT_EQ(describe(outcome_of(hostile("take_all_memory"), options)),
            "crashed in run: the kernel returned status 12");
  EXPECT_EQ(told_of("raise_limits"), called("prlimit64"));
  const std::vector<Candidate> both = {hostile("take_all_memory"), checked()};
  const auto batch = runner_->measure_interleaved(both, {.measure = options, .rounds = 2});
  EXPECT_EQ(describe(batch->candidates[0].outcome),
            "crashed in run: the kernel returned status 12");
  EXPECT_EQ(kind_of(batch->candidates[1].outcome), "timing");
}

TEST_F(HostileKernelTest, CannotMakeTheServerWait) {
  EXPECT_EQ(told_of("close_everything"), "crashed in verify: ended the process with exit status 0");
  EXPECT_EQ(told_of("close_everything_and_loop"),
            "crashed in run: closed its connection and did not end");
  EXPECT_EQ(told_of("sleep_long"), "timed out in run: no answer after 300 ms");
  Candidate threads = hostile("end_its_thread");
  threads.threads = 2;
  EXPECT_EQ(describe(outcome_of(threads, impatient())), "timed out in run: no answer after 300 ms");
}

TEST_F(HostileKernelTest, CannotKillWhoReadsItsMemory) {
  EXPECT_EQ(told_of("shrink_shared_memory"), called("ftruncate"));
  EXPECT_EQ(told_of("unmap_everything").substr(0, 14), "crashed in run");
  EXPECT_EQ(told_of("crash_with_blocked_signals"),
            "crashed in run: fatal signal 11 (Segmentation fault)");
}

TEST_F(HostileKernelTest, CannotFillLogs) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  auto own = Runner::start({.device = runtime::devices().front(), .cage = &kTestCage});
  ASSERT_TRUE(own.ok());
  const auto batch = own->measure(std::vector<Candidate>{hostile("write_much")}, quick());
  EXPECT_EQ(kind_of(batch->candidates[0].outcome), "timing");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(HostileKernelTest, MustBeRightAgainAfterItWasTimed) {
  EXPECT_EQ(kind_of(outcome_of(hostile("work_once"))), "wrong_answer");
  const std::vector<Candidate> both = {hostile("work_once"), checked()};
  const auto batch = runner_->measure_interleaved(both, {.measure = quick(), .rounds = 2});
  EXPECT_EQ(kind_of(batch->candidates[0].outcome), "wrong_answer");
  EXPECT_EQ(kind_of(batch->candidates[1].outcome), "timing");
}

TEST_F(HostileKernelTest, MustComputeWhatItHasNotSeen) {
  const std::string told = told_of("remember_outputs");
  EXPECT_EQ(told.substr(0, 12), "wrong answer") << told;
  EXPECT_TRUE(told.ends_with(", of fresh inputs")) << told;
  const std::vector<Candidate> both = {hostile("remember_outputs"), checked()};
  const auto batch = runner_->measure_interleaved(both, {.measure = quick(), .rounds = 2});
  EXPECT_EQ(kind_of(batch->candidates[0].outcome), "wrong_answer");
  EXPECT_EQ(kind_of(batch->candidates[1].outcome), "timing");
}

// Those that come after it have the same inputs.
TEST_F(HostileKernelTest, CannotSpoilTheInputsOfOthers) {
  EXPECT_EQ(told_of("spoil_inputs"), "crashed in run: changed what it may only read");
  EXPECT_EQ(told_of("spoil_inputs_and_fail"), "crashed in run: the kernel returned status 5");
}

// outcome_of looks at its neighbours too: what is forged of them does not count.
TEST_F(HostileKernelTest, WhatItForgesDoesNotCount) {
  const Outcome forged = outcome_of(hostile("forge_reports"), quick());
  ASSERT_EQ(kind_of(forged), "timing") << describe(forged);
  EXPECT_GT(std::get<Timing>(forged).best_us, 0.0);
  EXPECT_NE(kind_of(outcome_of(hostile("forge_and_leave"), quick())), "timing");
}

// The whole suite once more, by a user who has none of root's rights to begin with.
TEST(HostileKernels, AreHeldForAnOrdinaryUserToo) {
  constexpr uid_t kNobody = 65534;
  constexpr int kNotReached = 77;
  if (geteuid() != 0) GTEST_SKIP() << "this user is no other: only root can become one";
  std::array<char, 4096> path = {};
  ASSERT_GT(readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
    unsetenv("GTEST_OUTPUT");
    execl(path.data(), path.data(), "--gtest_brief=1",
          "--gtest_filter=HostileKernelTest.*:UnfilteredKernelTest.*", nullptr);
    _exit(kNotReached);
  }
  const std::optional<int> status = await_exit(child, 300'000);
  ASSERT_TRUE(status.has_value());
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kNotReached) {
    GTEST_SKIP() << "another user cannot reach " << path.data();
  }
  EXPECT_EQ(*status, 0);
}

// Where system calls cannot be filtered, what is left of the cage holds this much.
class UnfilteredKernelTest : public RunnerTest {};

TEST_F(UnfilteredKernelTest, AForkedChildDoesNotOutliveTheRunner) {
  auto own = Runner::start({.device = runtime::devices().front()});
  ASSERT_TRUE(own.ok());
  Candidate forking = candidate(object("hostile"), "fork_and_stay");
  forking.return_outputs = true;
  const auto batch = own->measure(std::vector<Candidate>{forking}, quick());
  ASSERT_EQ(kind_of(batch->candidates[0].outcome), "timing")
      << describe(batch->candidates[0].outcome);
  pid_t child = 0;
  std::memcpy(&child, batch->candidates[0].outputs[0].data(), sizeof child);
  ASSERT_GT(child, 0);
  EXPECT_EQ(kill(child, 0), 0);
  { const Runner ended = std::move(own).value(); }
  EXPECT_NE(kill(child, 0), 0);
}

TEST_F(UnfilteredKernelTest, SharedMemoryKeepsItsSize) {
  auto own = Runner::start({.device = runtime::devices().front()});
  ASSERT_TRUE(own.ok());
  Candidate shrinking = candidate(object("hostile"), "shrink_shared_memory");
  const auto batch = own->measure(std::vector<Candidate>{shrinking, checked()}, quick());
  EXPECT_EQ(kind_of(batch->candidates[0].outcome), "timing");
  EXPECT_EQ(kind_of(batch->candidates[1].outcome), "timing");
}

TEST_F(UnfilteredKernelTest, AStoppedServerIsGivenUp) {
  auto own = Runner::start({.device = runtime::devices().front(), .silence_ms = 2'500.0});
  ASSERT_TRUE(own.ok());
  Candidate stopping = candidate(object("hostile"), "stop_parent");
  MeasureOptions patient = quick();
  patient.timeout_ms = 600'000.0;
  const auto batch = own->measure(std::vector<Candidate>{stopping}, patient);
  EXPECT_EQ(kind_of(batch->candidates[0].outcome), "infrastructure_lost");
  EXPECT_EQ(
      kind_of(own->measure(std::vector<Candidate>{checked()}, quick())->candidates[0].outcome),
      "timing");
}

}  // namespace
}  // namespace attune::probe
