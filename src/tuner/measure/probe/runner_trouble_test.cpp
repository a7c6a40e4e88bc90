// Candidates that are wrong, crash, hang, hog memory or write where they must not.
#include <signal.h>
#include <unistd.h>

#include "tuner/measure/probe/runner_testing.h"
#include "tuner/measure/probe/worker.h"

namespace attune::probe {
namespace {

using RunnerTroubleTest = RunnerTest;

TEST_F(RunnerTroubleTest, AWrongAnswerNamesItsWorstElement) {
  Candidate forgetful = bad("forget_last");
  forgetful.verification = sums(1);
  const Outcome outcome = outcome_of(forgetful);
  ASSERT_EQ(kind_of(outcome), "wrong_answer");
  EXPECT_EQ(std::get<outcome::WrongAnswer>(outcome).reason.substr(0, 42),
            "buffer 2 at element 1023 is nan, expected ");
  Candidate other_seed = good("add");
  other_seed.verification = sums(2);
  EXPECT_EQ(kind_of(outcome_of(other_seed)), "wrong_answer");
}

TEST_F(RunnerTroubleTest, ACrashIsAnOutcome) {
  const Outcome outcome = outcome_of(bad("write_null"));
  ASSERT_EQ(kind_of(outcome), "run_crashed");
  EXPECT_EQ(std::get<outcome::RunCrashed>(outcome).signal, SIGSEGV);
  EXPECT_EQ(describe(outcome),
            "crashed in run: segmentation fault (signal 11), wrote address 0x0 (memory beyond its "
            "limit of 1024 MiB is refused with a null pointer)");
  EXPECT_EQ(told(bad("illegal")), "crashed in run: illegal instruction (signal 4)");
  EXPECT_EQ(told(bad("give_up")), "crashed in run: abort (signal 6)");
  EXPECT_EQ(told(bad("leave")), "crashed in run: ended the process with exit status 3");
  EXPECT_EQ(told(bad("return_status")), "crashed in run: the kernel returned status 42");
  EXPECT_EQ(kind_of(outcome_of(bad("overflow_stack"))), "run_crashed");
}

TEST_F(RunnerTroubleTest, AnEndlessLoopTimesOut) {
  MeasureOptions options = quick();
  options.timeout_ms = 50.0;
  const std::vector<Candidate> batch = {bad("loop_forever"), good("add")};
  const auto measured = runner_->measure(batch, options);
  EXPECT_EQ(describe(measured->candidates[0].outcome), "timed out in run: no answer after 50 ms");
  EXPECT_EQ(std::get<outcome::TimedOut>(measured->candidates[0].outcome).limit_ms, 50.0);
  EXPECT_EQ(kind_of(measured->candidates[1].outcome), "timing");
}

TEST_F(RunnerTroubleTest, AMemoryHogIsStopped) {
  EXPECT_EQ(kind_of(outcome_of(bad("allocate_100_gigabytes"))), "run_crashed");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // no limits with these
  MeasureOptions options = quick();
  options.memory_limit_bytes = 64 << 20;
  EXPECT_EQ(kind_of(outcome_of(bad("allocate_bit_by_bit"), options)), "run_crashed");
#endif
  Candidate greedy = good("add");
  greedy.workspace_bytes = std::int64_t{100} << 30;
  EXPECT_EQ(told(greedy),
            "crashed in prepare: asks for 107374182400 bytes of workspace, more than its limit of "
            "1073741824");
}

TEST_F(RunnerTroubleTest, WritingOutOfBoundsIsCaught) {
  EXPECT_EQ(told(bad("write_one_past")), "crashed in run: wrote past the end of buffer 2");
  EXPECT_EQ(told(bad("write_one_before")), "crashed in run: wrote before the start of buffer 2");
  EXPECT_EQ(told(bad("write_far_past")),
            "crashed in run: segmentation fault (signal 11), wrote past the end of buffer 2");
  EXPECT_EQ(told(bad("read_far_before")),
            "crashed in run: segmentation fault (signal 11), read before the start of buffer 0");
  EXPECT_EQ(told(bad("write_input")),
            "crashed in run: segmentation fault (signal 11), wrote buffer 1, which is read-only");
  Candidate scratch = bad("write_past_workspace");
  scratch.workspace_bytes = 100;
  EXPECT_EQ(told(scratch), "crashed in run: wrote past the end of the workspace");
  Candidate parallel = bad("crash_in_parallel");
  parallel.threads = 2;
  EXPECT_EQ(told(parallel),
            "crashed in run: segmentation fault (signal 11), wrote past the end of buffer 2");
}

TEST_F(RunnerTroubleTest, CodeThatDoesNotLoadIsABuildFailure) {
  EXPECT_EQ(told(good("absent")), "build failed in load: kernel object has no function 'absent'");
  Candidate damaged = good("add");
  damaged.object = std::make_shared<std::vector<std::byte>>(100);
  EXPECT_EQ(told(damaged), "build failed in load: kernel object is not an ELF file");
}

TEST_F(RunnerTroubleTest, BeingKilledIsNotTheCandidatesFault) {
  std::thread killer([asker = getpid()] { kill(await_busy_probe(asker).worker, SIGKILL); });
  const std::string told_of_it = told(bad("loop_forever"));
  killer.join();
  EXPECT_EQ(told_of_it,
            "infrastructure lost in run: the measuring process was killed from outside (signal 9)");
}

// No core has this number, as none has one that was taken away.
TEST_F(RunnerTroubleTest, AWorkerWithoutItsCoreSaysSo) {
  EXPECT_EXIT(run_worker(Descriptor(), {.cores = {8191}}),
              ::testing::ExitedWithCode(kNoCoreExitStatus), "");
}

TEST_F(RunnerTroubleTest, ADeviceThatCannotBeOpenedIsNotTheCandidatesFault) {
  const runtime::DeviceKind broken{
      .name = "broken",
      .check = nullptr,
      .open = [](std::string_view) -> Result<std::unique_ptr<runtime::Device>> {
        return unsupported("it fell off");
      }};
  auto own = Runner::start({.device = &broken, .cage = &kTestCage});
  ASSERT_TRUE(own.ok()) << own.error().message;
  const std::vector<Candidate> batch = {good("add"), good("add")};
  const auto measured = own->measure(batch, quick());
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  for (const Measured& each : measured->candidates) {
    EXPECT_EQ(describe(each.outcome),
              "infrastructure lost in load: the measuring process cannot open its device");
  }
}

TEST_F(RunnerTroubleTest, ASlowCandidateIsCutShort) {
  Candidate slow = good("add_slowly");
  slow.best_known_us = 0.001;
  const Outcome outcome = outcome_of(slow);
  EXPECT_TRUE(std::get<Timing>(outcome).cut_short);
  EXPECT_EQ(std::get<Timing>(outcome).repeats, 1);
}

// Also when it is not called again: what its first call wrote is what it wrote last.
TEST_F(RunnerTroubleTest, AHopelessCandidateIsStillRight) {
  Candidate hopeless = good("add_for_milliseconds");
  hopeless.verification = sums(1);
  hopeless.best_known_us = 0.001;
  const Outcome outcome = outcome_of(hopeless);
  ASSERT_EQ(kind_of(outcome), "timing") << describe(outcome);
  EXPECT_TRUE(std::get<Timing>(outcome).cut_short);
}

}  // namespace
}  // namespace attune::probe
