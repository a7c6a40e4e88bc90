#include "tuner/measure/probe/runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "tuner/measure/probe/runner_testing.h"

namespace attune::probe {
namespace {

TEST_F(RunnerTest, TimesAndVerifiesAGoodKernel) {
  const Outcome outcome = outcome_of(checked());
  ASSERT_EQ(kind_of(outcome), "timing") << describe(outcome);
  const Timing& timing = std::get<Timing>(outcome);
  EXPECT_GT(timing.best_us, 0.0);
  EXPECT_LE(timing.best_us, timing.median_us);
  EXPECT_GE(timing.repeats, 3);
  EXPECT_TRUE(timing.verified);
  EXPECT_FALSE(timing.cold_weights);
  EXPECT_LT(timing.max_error, 1e-6);
}

TEST_F(RunnerTest, RunsWithThreadsAndWorkspace) {
  for (int threads : {1, 2, 5}) {
    Candidate parallel = checked();
    parallel.threads = threads;
    EXPECT_EQ(kind_of(outcome_of(parallel)), "timing") << threads;
  }
  Candidate scratch = good("add_in_workspace");
  scratch.workspace_bytes = 4096;
  scratch.verification = sums(1);
  EXPECT_EQ(kind_of(outcome_of(scratch)), "timing");
}

TEST_F(RunnerTest, ReturnsOutputs) {
  Candidate add = good("add");
  add.return_outputs = true;
  const auto batch = runner_->measure(std::vector<Candidate>{add}, quick());
  ASSERT_EQ(batch->candidates[0].outputs.size(), 1u);
  const std::vector<std::byte>& bytes = batch->candidates[0].outputs[0];
  ASSERT_EQ(bytes.size(), kElements * sizeof(float));
  for (const Sample& sample : sums(1).samples) {
    EXPECT_NEAR(runtime::read_element(bytes.data(), DType::F32, sample.index), sample.expected,
                1e-6);
  }
}

TEST_F(RunnerTest, TakesExplicitContents) {
  std::vector<float> ones(kElements, 1.0f);
  auto contents = std::make_shared<std::vector<std::byte>>(kElements * sizeof(float));
  std::memcpy(contents->data(), ones.data(), contents->size());
  Candidate add = good("add");
  add.buffers[0].contents = contents;
  add.buffers[1].contents = contents;
  add.buffers[1].role = Role::Constant;
  add.verification = {{{2, 0, 2.0}, {2, kElements - 1, 2.0}}, 0.0, 0.0};
  EXPECT_EQ(kind_of(outcome_of(add)), "timing");
}

// Input 0 plus what the preparation made of inputs 0 and 1.
Candidate with_preparation(Candidate add, const Bytes& code, const std::string& symbol) {
  const Preparation preparation{
      .id = 77,
      .object = code,
      .symbol = symbol,
      .buffers = {{.elements = kElements, .role = Role::Constant, .fill_index = 0},
                  {.elements = kElements, .role = Role::Constant, .fill_index = 1},
                  {.elements = kElements, .role = Role::Output}}};
  add.preparation = std::make_shared<const Preparation>(preparation);
  add.buffers[1].role = Role::Constant;
  add.buffers[1].prepared = 0;
  return add;
}

TEST_F(RunnerTest, RunsAPreparationOnceForAllThatShareIt) {
  Candidate add = with_preparation(good("add"), good_, "add");
  add.verification = sums(1);
  // What was prepared stays the same when other inputs come.
  const auto input_of = [](std::uint64_t seed) {
    std::vector<float> a(kElements);
    runtime::fill(a.data(), DType::F32, kElements, seed, 0);
    return a;
  };
  const std::vector<float> a = input_of(1), fresh = input_of(add.verification.fresh_seed);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double prepared = add.verification.samples[i].expected;
    add.verification.samples[i].expected = prepared + static_cast<double>(a[i]);
    add.verification.fresh[i].expected = prepared + static_cast<double>(fresh[i]);
  }
  for (const bool cold : {false, true}) {
    add.buffers[1].rotate = cold;
    EXPECT_EQ(kind_of(outcome_of(add)), "timing") << describe(outcome_of(add));
    // The same id, and code that would crash: what is there is taken.
    const Candidate again = with_preparation(add, bad_, "write_null");
    const auto batch = runner_->measure(std::vector<Candidate>{add, again}, quick());
    for (const Measured& one : batch->candidates) {
      EXPECT_EQ(kind_of(one.outcome), "timing") << describe(one.outcome);
    }
  }
}

TEST_F(RunnerTest, AFailingPreparationFailsItsCandidate) {
  Candidate add = with_preparation(good("add"), bad_, "write_null");
  add.seed = 5;
  EXPECT_EQ(told(add).substr(0, 18), "crashed in prepare") << told(add);
  add = with_preparation(good("add"), good_, "add");
  add.buffers[1].prepared = 3;
  const auto refused = runner_->measure(std::vector<Candidate>{add}, quick());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "candidate 0 takes output 3 of its preparation, which does not exist or has another "
            "size");
}

TEST_F(RunnerTest, RotatingBuffersAreDifferentCopies) {
  Candidate rotating{.object = good_,
                     .symbol = "note_address",
                     .buffers = {{.elements = 100, .role = Role::Constant, .rotate = true},
                                 {.type = DType::I64, .elements = 8, .role = Role::Output}},
                     .return_outputs = true};
  MeasureOptions options = quick();
  options.rotate_bytes = 7 * 448;  // seven copies of 400 bytes on cache lines of their own
  const auto batch = runner_->measure(std::vector<Candidate>{rotating}, options);
  ASSERT_EQ(kind_of(batch->candidates[0].outcome), "timing");
  EXPECT_TRUE(std::get<Timing>(batch->candidates[0].outcome).cold_weights);
  std::set<double> addresses;
  for (std::int64_t i = 1; i < 8; ++i) {
    addresses.insert(runtime::read_element(batch->candidates[0].outputs[0].data(), DType::I64, i));
  }
  EXPECT_EQ(addresses.size(), 7u);
  EXPECT_EQ(*addresses.rbegin() - *addresses.begin(), 6.0 * 448.0);
}

TEST_F(RunnerTest, InterleavesTheSurvivors) {
  MeasureOptions measure = quick();
  measure.timeout_ms = 500.0;
  const std::vector<Candidate> contenders = {
      checked(),           bad("write_far_past"), good("add_slowly"),
      bad("loop_forever"), bad("write_one_past"), checked()};
  const auto batch = runner_->measure_interleaved(contenders, {.measure = measure, .rounds = 4});
  ASSERT_TRUE(batch.ok());
  const char* expected[] = {"timing",    "run_crashed", "timing",
                            "timed_out", "run_crashed", "timing"};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(kind_of(batch->candidates[i].outcome), expected[i])
        << describe(batch->candidates[i].outcome);
  }
  EXPECT_EQ(std::get<Timing>(batch->candidates[0].outcome).repeats, 4);
  EXPECT_TRUE(std::get<Timing>(batch->candidates[5].outcome).verified);
}

TEST_F(RunnerTest, ReadsTheSentinel) {
  const auto reading = runner_->sentinel();
  ASSERT_TRUE(reading.ok());
  EXPECT_GT(reading->compute_us, 0.0);
  EXPECT_GT(reading->memory_us, 0.0);
  const auto batch = runner_->measure(std::vector<Candidate>{good("add")}, quick());
  EXPECT_GT(batch->before.compute_us, 0.0);
  EXPECT_GT(batch->after.memory_us, 0.0);
}

TEST_F(RunnerTest, AnEmptyBatchIsFine) {
  EXPECT_TRUE(runner_->measure({}, quick())->candidates.empty());
  EXPECT_TRUE(runner_->measure_interleaved({}, {})->candidates.empty());
}

TEST_F(RunnerTest, RefusesSenselessRequests) {
  const auto error_of = [](const Candidate& one) {
    return runner_->measure(std::vector<Candidate>{one}, quick()).error().message;
  };
  Candidate one = good("add");
  one.verification.samples = {{2, kElements, 0.0}};
  EXPECT_EQ(error_of(one),
            "candidate 0 is verified at element 1024 of buffer 2, which does not exist");
  one = good("add");
  one.threads = 0;
  EXPECT_EQ(error_of(one), "candidate 0 asks for 0 threads and 0 bytes of workspace");
  one = good("add");
  one.buffers[0].contents = std::make_shared<std::vector<std::byte>>(5);
  EXPECT_EQ(error_of(one), "buffer 0 of candidate 0 has 5 bytes of contents, needs 4096");
  one = good("add");
  one.buffers[2].rotate = true;
  EXPECT_EQ(error_of(one),
            "buffer 2 of candidate 0 is an output and can have no contents and no rotation");
  one = good("add");
  one.object = nullptr;
  EXPECT_EQ(error_of(one), "candidate 0 has no object");
}

TEST_F(RunnerTest, ALostServerIsReplaced) {
  const std::vector<Candidate> batch = {bad("loop_forever"), good("add")};
  std::thread killer([asker = getpid()] { kill(await_busy_probe(asker).server, SIGKILL); });
  const auto measured = runner_->measure(batch, quick());
  killer.join();
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(describe(measured->candidates[0].outcome),
            "infrastructure lost in load: the measuring process ended before it was run");
  EXPECT_EQ(kind_of(measured->candidates[1].outcome), "infrastructure_lost");
  EXPECT_EQ(kind_of(outcome_of(good("add"))), "timing");
}

TEST_F(RunnerTest, AStoppedServerIsGivenUp) {
  auto own = Runner::start(
      {.device = runtime::devices().front(), .cage = &kTestCage, .silence_ms = 3'000.0});
  ASSERT_TRUE(own.ok());
  std::thread stopper([asker = getpid()] { kill(await_busy_probe(asker).server, SIGSTOP); });
  MeasureOptions options = quick();
  options.timeout_ms = 600'000.0;
  const auto measured = own->measure(std::vector<Candidate>{bad("loop_forever")}, options);
  stopper.join();
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(kind_of(measured->candidates[0].outcome), "infrastructure_lost");
  EXPECT_EQ(
      kind_of(own->measure(std::vector<Candidate>{good("add")}, quick())->candidates[0].outcome),
      "timing");
}

TEST_F(RunnerTest, NothingOutlivesTheProcessThatAsked) {
  const pid_t asker = fork();
  if (asker == 0) {
    auto own = Runner::start({.device = runtime::devices().front(), .cage = &kTestCage});
    if (own.ok()) {
      const std::vector<Candidate> batch = {bad("loop_forever")};
      static_cast<void>(own->measure(batch, {.repeat_us = 200.0, .timeout_ms = 600'000.0}).ok());
    }
    _exit(0);
  }
  const ProbeProcesses processes = await_busy_probe(asker);
  std::vector<pollfd> watched;
  for (const pid_t process : {processes.server, processes.worker}) {
    const auto number = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (number < 0) GTEST_SKIP() << "this system has no pidfd_open";
    watched.push_back({number, POLLIN, 0});
  }
  kill(asker, SIGKILL);
  waitpid(asker, nullptr, 0);
  for (pollfd& process : watched) {
    EXPECT_EQ(poll(&process, 1, 60'000), 1);
    close(process.fd);
  }
}

TEST(RunnerStart, RefusesUnknownCores) {
  EXPECT_EQ(Runner::start({.cores = {8000}}).error().message,
            "cannot pin to core 8000: Invalid argument");
}

}  // namespace
}  // namespace attune::probe
