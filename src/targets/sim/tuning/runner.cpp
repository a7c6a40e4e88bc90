#include "targets/sim/tuning/runner.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "runtime/memory/fill.h"
#include "runtime/memory/memory.h"
#include "targets/sim/device/device.h"
#include "targets/sim/facts/facts.h"
#include "tuner/measure/probe/verification.h"

namespace attune::sim {
namespace {

using measure::Expectation;
using measure::KernelCode;
using measure::RunOptions;
using measure::RunRequest;
using measure::RunResult;
using runtime::Location;
using runtime::Space;
using Block = std::shared_ptr<runtime::DeviceMemory>;

// The memory of one run, by what parameters name.
using Blocks = std::map<std::pair<kernel::ParameterKind, int>, Block>;

// About what the interpreter does. Limits of time are counted in steps, so that a seed leads to the
// same outcomes on any machine.
constexpr double kStepsPerMs = 10'000;

// What a call took in simulated time; nothing: it had more steps than its time allows.
using Spent = std::optional<std::int64_t>;  // ns

// Why a call has no time.
outcome::Outcome failure_of(const Result<Spent>& call, outcome::Phase phase,
                            const RunOptions& options) {
  if (!call.ok()) return outcome::RunCrashed{phase, 0, call.error().message};
  return outcome::TimedOut{phase, options.timeout_ms, "more steps than that time is worth"};
}

class Runner final : public measure::Runner {
 public:
  explicit Runner(const Machine& machine) : machine_(machine) {}

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override {
    const std::lock_guard lock(mutex_);
    const auto most_steps = static_cast<std::int64_t>(options.timeout_ms * kStepsPerMs);
    device_ = open_device(machine_, std::max<std::int64_t>(most_steps, 1));
    ATTUNE_ASSIGN(stream_, device_->open_stream({}));
    std::vector<RunResult> results;
    for (const RunRequest& request : requests) {
      const std::int64_t start = clock_.now_ns();
      RunResult result{outcome_of(request, expectation, options), {}, 0, 0};
      result.run_ms = seconds_between(start, clock_.now_ns()) * 1e3;
      busy_seconds_ = busy_seconds_ + result.run_ms * 1e-3;
      results.push_back(std::move(result));
    }
    return results;
  }
  Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override {
    return measure(requests, expectation, options);
  }
  std::string device() const override { return "simulated"; }
  double busy_seconds() const override { return busy_seconds_; }

 private:
  outcome::Outcome outcome_of(const RunRequest& request, const Expectation& expectation,
                              const RunOptions& options) {
    const measure::BuiltCandidate& candidate = *request.candidate;
    Blocks blocks;
    if (candidate.prepare != nullptr) {
      const auto prepared = run(*candidate.prepare, expectation.seed, blocks);
      if (!prepared.ok() || !*prepared) {
        return failure_of(prepared, outcome::Phase::Prepare, options);
      }
    }
    const auto spent = run(*candidate.main, expectation.seed, blocks);
    if (!spent.ok() || !*spent) return failure_of(spent, outcome::Phase::Run, options);
    outcome::Timing timing;
    timing.best_us = timing.median_us = static_cast<double>(**spent) * 1e-3;
    timing.repeats = 1;
    timing.calls_per_repeat = 1;
    timing.verified = !expectation.elements.empty();
    probe::Verification wanted{.absolute_tolerance = request.absolute_tolerance};
    const auto found = compare_outputs(*candidate.main, expectation, blocks, wanted);
    if (!found.ok()) return outcome::RunCrashed{outcome::Phase::Verify, 0, found.error().message};
    timing.max_error = found->max_error;
    if (found->right) return timing;
    return outcome::WrongAnswer{outcome::Phase::Verify, found->max_error,
                                probe::describe_wrong(wanted, *found)};
  }

  // One call, without moving its operands there.
  Result<Spent> run(const KernelCode& code, std::uint64_t seed, Blocks& blocks) {
    ATTUNE_ASSIGN(const auto loaded, device_->load(*code.object));
    ATTUNE_ASSIGN(const runtime::KernelHandle kernel, loaded->kernel(code.symbol));
    std::vector<void*> arguments;
    for (const kernel::Parameter& parameter : code.parameters) {
      ATTUNE_ASSIGN(const Block block, block_of(parameter, seed, blocks));
      arguments.push_back(block->address());
    }
    const std::int64_t start = stream_->now_ns();
    const Status launched = stream_->launch(kernel, arguments);
    if (launched.ok()) return Spent(stream_->now_ns() - start);
    if (launched.error().code == ErrorCode::Exhausted) return Spent();
    return launched.error();
  }

  Result<Block> block_of(const kernel::Parameter& parameter, std::uint64_t seed, Blocks& blocks) {
    const auto bytes = static_cast<std::size_t>(parameter.bytes());
    // Inputs and constants are counted together.
    const auto kind = parameter.is_input() ? kernel::ParameterKind::Input : parameter.kind;
    Block& block = blocks[{kind, parameter.index}];
    if (block != nullptr) return block;
    ATTUNE_ASSIGN(block, device_->allocate(bytes));
    if (!parameter.is_input()) return block;
    ATTUNE_ASSIGN(const runtime::Memory values, runtime::Memory::allocate(bytes));
    runtime::fill(values.data(), parameter.type, parameter.elements, seed, parameter.index);
    ATTUNE_RETURN_IF_ERROR(stream_->copy({Space::Device, block->address()},
                                         {Space::Host, static_cast<std::byte*>(values.data())},
                                         bytes));
    return block;
  }

  // `wanted` gets the samples, by the position of their output.
  Result<probe::Comparison> compare_outputs(const KernelCode& code, const Expectation& expectation,
                                            const Blocks& blocks, probe::Verification& wanted) {
    std::vector<probe::Buffer> outputs;
    std::vector<runtime::Memory> copies;
    std::vector<const std::byte*> data;
    for (const kernel::Parameter& parameter : code.parameters) {
      if (parameter.kind != kernel::ParameterKind::Output) continue;
      const auto bytes = static_cast<std::size_t>(parameter.bytes());
      ATTUNE_ASSIGN(runtime::Memory copy, runtime::Memory::allocate(bytes));
      auto* const host = static_cast<std::byte*>(copy.data());
      const Block& block = blocks.at({parameter.kind, parameter.index});
      ATTUNE_RETURN_IF_ERROR(
          stream_->copy({Space::Host, host}, {Space::Device, block->address()}, bytes));
      for (const measure::ExpectedElement& element : expectation.elements) {
        if (element.output != parameter.index) continue;
        wanted.samples.push_back(
            {static_cast<int>(outputs.size()), element.index, element.expected});
      }
      outputs.push_back(
          {.type = parameter.type, .elements = parameter.elements, .role = probe::Role::Output});
      copies.push_back(std::move(copy));
      data.push_back(host);
    }
    std::vector<double> values(wanted.samples.size());
    probe::read_samples(wanted.samples, outputs, data, values);
    return probe::compare(wanted, wanted.samples, values);
  }

  const Machine machine_;
  std::unique_ptr<runtime::Device> device_;  // of the present call
  std::unique_ptr<runtime::Stream> stream_;
  std::mutex mutex_;  // one request at a time
  const SteadyClock clock_;
  std::atomic<double> busy_seconds_ = 0;
};

}  // namespace

Result<std::unique_ptr<measure::Runner>> start_runner(const target::Target& target) {
  ATTUNE_ASSIGN(const Machine machine, machine_of(target));
  return std::unique_ptr<measure::Runner>(new Runner(machine));
}

}  // namespace attune::sim
