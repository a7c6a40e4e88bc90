// Measuring in a process of its own, on the simulated device and on one that misbehaves. The
// process is this test program, asked for the test that serves.
#include "tuner/measure/device_runner/device_runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "compiler/ir/text/parse.h"
#include "compiler/kernel/kernel.h"
#include "compiler/schedule/trace.h"
#include "targets/devices/devices.h"
#include "targets/kinds.h"
#include "tuner/measure/device_runner/line.h"
#include "tuner/measure/device_runner/serve.h"

namespace attune::device_runner {
namespace {

constexpr const char* kProduct = R"(program product {
  input a: f32[8, 6]
  input b: f32[6, 10]
  stage anchor(i: 8, j: 10) = sum(k: 6) a[i, k] * b[k, j]
  stage 'output'(i: 8, j: 10) = anchor[i, j] + 1.0f32
  output 'output'
}
)";
constexpr const char* kFast =
    "split output j 5\nreorder output i j.0 j.1\nbind output i block.x\n"
    "bind output j.1 thread.x\ncompute_at anchor output j.1\nset_scope anchor register\n";
constexpr const char* kSlow = "bind output i block.x\ncompute_at anchor output i\n";

// A device whose calls end as the target says.
class BadStream final : public runtime::Stream {
 public:
  explicit BadStream(std::string how) : how_(std::move(how)) {}
  Status launch(runtime::KernelHandle, std::span<void* const>) override {
    if (how_ == "crashes") (void)::raise(SIGSEGV);
    if (how_ == "leaves") ::_exit(7);
    if (how_ == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
    return invalid("an illegal address was encountered");
  }
  Status copy(const runtime::Location&, const runtime::Location&, std::size_t) override {
    return {};
  }
  Status wait() override { return {}; }
  std::int64_t now_ns() const override { return 0; }

 private:
  const std::string how_;
};

class BadDevice final : public runtime::Device {
 public:
  explicit BadDevice(std::string how) : how_(std::move(how)) {}
  runtime::Space space() const override { return runtime::Space::Device; }
  Result<std::unique_ptr<runtime::DeviceMemory>> allocate(std::size_t) override {
    struct Nothing final : runtime::DeviceMemory {
      std::byte* address() const override { return nullptr; }
    };
    return std::unique_ptr<runtime::DeviceMemory>(new Nothing);
  }
  Result<std::unique_ptr<runtime::LoadedCode>> load(std::span<const std::byte>) override {
    struct Code final : runtime::LoadedCode {
      Result<runtime::KernelHandle> kernel(const std::string&) const override { return this; }
    };
    return std::unique_ptr<runtime::LoadedCode>(new Code);
  }
  Result<std::unique_ptr<runtime::Stream>> open_stream(const runtime::StreamOptions&) override {
    return std::unique_ptr<runtime::Stream>(new BadStream(how_));
  }

 private:
  const std::string how_;
};

const runtime::DeviceKind kBad = {
    .name = "bad",
    .check = [](const runtime::Plan&, std::span<const std::span<const std::byte>>) -> Status {
      return {};
    },
    .open = [](std::string_view how) -> Result<std::unique_ptr<runtime::Device>> {
      return std::unique_ptr<runtime::Device>(new BadDevice(std::string(how)));
    }};

// Not a test: what the process that a runner starts does.
TEST(DeviceServer, DISABLED_Serves) {
  std::vector<const runtime::DeviceKind*> kinds(targets::devices().begin(),
                                                targets::devices().end());
  kinds.push_back(&kBad);
  ::_exit(serve(kLine, kinds));
}

class DeviceRunner : public ::testing::Test {
 protected:
  DeviceRunner() {
    for (const char* trace : {kFast, kSlow}) {
      kernel::Built built =
          kernel::build(program_, schedule::parse_trace(trace).value(), target_).value();
      auto code = std::make_shared<measure::KernelCode>();
      auto bytes = kernel::link(std::span(&built.main.object, 1), target_).value();
      code->object = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
      code->symbol = built.main.object.entry.symbol;
      code->parameters = built.main.parameters;
      candidates_.emplace_back();
      candidates_.back().main = code;
    }
    for (const auto& each : candidates_) requests_.push_back({&each, 1e-3});
  }

  static Result<std::unique_ptr<measure::Runner>> start(std::string kind, std::string target) {
    return start_device_runner({.kind = std::move(kind),
                                .target = std::move(target),
                                .device = "a device",
                                .command = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                                            "--gtest_filter=DeviceServer.DISABLED_Serves"}});
  }

  const target::Target target_ = targets::resolve(targets::parse("sim").value()).value();
  const ir::Program program_ = ir::parse_program(kProduct).value();
  const measure::RunOptions quick_{.repeat_us = 1, .budget_us = 1, .compare_repeat_us = 1};
  std::vector<measure::BuiltCandidate> candidates_;
  std::vector<measure::RunRequest> requests_;
};

TEST_F(DeviceRunner, MeasuresInAnotherProcess) {
  auto runner = start("sim", target::to_string(target_)).value();
  const auto first = runner->measure(requests_, {}, quick_).value();
  const auto again = runner->measure(requests_, {}, quick_).value();
  const auto us = [](const measure::RunResult& result) {
    const auto* timing = std::get_if<outcome::Timing>(&result.outcome);
    return timing != nullptr ? timing->best_us : -1;
  };
  ASSERT_GT(us(first[0]), 0) << outcome::describe(first[0].outcome);
  EXPECT_LT(us(first[0]), us(first[1]));
  EXPECT_EQ(us(first[0]), us(again[0]));
  EXPECT_EQ(runner->device(), "a device");
  EXPECT_GT(runner->busy_seconds(), 0);
}

TEST_F(DeviceRunner, ComparesInTurns) {
  auto runner = start("sim", target::to_string(target_)).value();
  measure::RunOptions cold = quick_;
  cold.weights = records::Weights::Cold;
  for (const measure::RunOptions& options : {quick_, cold}) {
    const auto results = runner->compare(requests_, {}, options).value();
    ASSERT_EQ(results.size(), 2u);
    const auto& fast = std::get<outcome::Timing>(results[0].outcome);
    const auto& slow = std::get<outcome::Timing>(results[1].outcome);
    EXPECT_LT(fast.best_us, slow.best_us);
    EXPECT_EQ(fast.repeats, options.compare_rounds);
    EXPECT_EQ(fast.cold_weights, options.weights == records::Weights::Cold);
  }
}

TEST_F(DeviceRunner, AWrongAnswerIsNoTiming) {
  auto runner = start("sim", target::to_string(target_)).value();
  measure::Expectation wrong{.seed = 1, .elements = {{0, 7, 1e6}}, .magnitude = 1e6};
  EXPECT_EQ(outcome::kind_of(runner->measure(requests_, wrong, quick_).value()[0].outcome),
            "wrong_answer");
  measure::Expectation fresh{.seed = 1, .elements = {}, .fresh_seed = 2, .fresh = {{0, 3, 1e6}}};
  EXPECT_EQ(outcome::kind_of(runner->measure(requests_, fresh, quick_).value()[0].outcome),
            "wrong_answer");
  EXPECT_EQ(outcome::kind_of(runner->measure(requests_, {}, quick_).value()[0].outcome), "timing");
}

TEST_F(DeviceRunner, WhatEndsTheProcessIsAnOutcome) {
  const std::pair<const char*, const char*> cases[] = {
      {"crashes", "the device's process ended by signal 11 (Segmentation fault)"},
      {"leaves", "the device's process ended with status 7"},
      {"fails", "an illegal address was encountered"}};
  for (const auto& [how, reason] : cases) {
    auto runner = start("bad", how).value();
    const auto results = runner->measure(requests_, {}, quick_).value();
    ASSERT_EQ(results.size(), 2u);  // the second in a process of its own
    for (const auto& result : results) {
      const auto* crash = std::get_if<outcome::RunCrashed>(&result.outcome);
      ASSERT_NE(crash, nullptr) << how << ": " << outcome::describe(result.outcome);
      EXPECT_EQ(crash->phase, outcome::Phase::Run);
      EXPECT_EQ(crash->reason, reason);
    }
  }
}

TEST_F(DeviceRunner, WhatHangsTimesOut) {
  auto runner = start("bad", "hangs").value();
  measure::RunOptions options = quick_;
  options.timeout_ms = 50;
  const auto results = runner->measure(requests_, {}, options).value();
  for (const auto& result : results) {
    const auto* late = std::get_if<outcome::TimedOut>(&result.outcome);
    ASSERT_NE(late, nullptr) << outcome::describe(result.outcome);
    EXPECT_EQ(late->reason, "no answer after 50 ms");
  }
}

TEST_F(DeviceRunner, WhatIsNotThereDoesNotOpen) {
  const auto unknown = start("nothing", "nothing");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message.find("the device 'nothing' does not open: "), 0u)
      << unknown.error().message;
  const auto none = start_device_runner({.kind = "sim", .command = {"/nowhere"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "a device's process does not start: No such file or directory");
}

}  // namespace
}  // namespace attune::device_runner
