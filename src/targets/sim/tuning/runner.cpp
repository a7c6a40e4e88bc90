#include "targets/sim/tuning/runner.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "runtime/memory/fill.h"
#include "runtime/memory/memory.h"
#include "targets/sim/device/device.h"
#include "targets/sim/facts/facts.h"

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

class Runner final : public measure::Runner {
 public:
  Runner(std::unique_ptr<runtime::Device> device, std::unique_ptr<runtime::Stream> stream)
      : device_(std::move(device)), stream_(std::move(stream)) {}

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions&) override {
    const std::lock_guard lock(mutex_);
    std::vector<RunResult> results;
    for (const RunRequest& request : requests) {
      const std::int64_t start = clock_.now_ns();
      RunResult result{outcome_of(request, expectation), {}, 0, 0};
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
  outcome::Outcome outcome_of(const RunRequest& request, const Expectation& expectation) {
    const measure::BuiltCandidate& candidate = *request.candidate;
    Blocks blocks;
    if (candidate.prepare != nullptr) {
      const auto prepared = run(*candidate.prepare, expectation.seed, blocks);
      if (!prepared.ok()) {
        return outcome::RunCrashed{outcome::Phase::Prepare, 0, prepared.error().message};
      }
    }
    const auto spent_ns = run(*candidate.main, expectation.seed, blocks);
    if (!spent_ns.ok()) {
      return outcome::RunCrashed{outcome::Phase::Run, 0, spent_ns.error().message};
    }
    outcome::Timing timing;
    timing.best_us = timing.median_us = static_cast<double>(*spent_ns) * 1e-3;
    timing.repeats = 1;
    timing.calls_per_repeat = 1;
    timing.verified = !expectation.elements.empty();
    const auto error = largest_error(*candidate.main, expectation, blocks);
    if (!error.ok()) return outcome::RunCrashed{outcome::Phase::Verify, 0, error.error().message};
    timing.max_error = *error;
    if (*error > request.absolute_tolerance) {
      return outcome::WrongAnswer{outcome::Phase::Verify, *error,
                                  fmt::format("an element is off by {:g}, more than {:g}", *error,
                                              request.absolute_tolerance)};
    }
    return timing;
  }

  // One call; what it took, without moving its operands there.
  Result<std::int64_t> run(const KernelCode& code, std::uint64_t seed, Blocks& blocks) {
    ATTUNE_ASSIGN(const auto loaded, device_->load(*code.object));
    ATTUNE_ASSIGN(const runtime::KernelHandle kernel, loaded->kernel(code.symbol));
    std::vector<void*> arguments;
    for (const kernel::Parameter& parameter : code.parameters) {
      ATTUNE_ASSIGN(const Block block, block_of(parameter, seed, blocks));
      arguments.push_back(block->address());
    }
    const std::int64_t start = stream_->now_ns();
    ATTUNE_RETURN_IF_ERROR(stream_->launch(kernel, arguments));
    return stream_->now_ns() - start;
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

  Result<double> largest_error(const KernelCode& code, const Expectation& expectation,
                               const Blocks& blocks) {
    double largest = 0;
    for (const kernel::Parameter& parameter : code.parameters) {
      if (parameter.kind != kernel::ParameterKind::Output) continue;
      const auto bytes = static_cast<std::size_t>(parameter.bytes());
      ATTUNE_ASSIGN(const runtime::Memory values, runtime::Memory::allocate(bytes));
      const Block& block = blocks.at({parameter.kind, parameter.index});
      ATTUNE_RETURN_IF_ERROR(stream_->copy({Space::Host, static_cast<std::byte*>(values.data())},
                                           {Space::Device, block->address()}, bytes));
      for (const measure::ExpectedElement& element : expectation.elements) {
        if (element.output != parameter.index) continue;
        const double actual = runtime::read_element(values.data(), parameter.type, element.index);
        const bool same =
            actual == element.expected || (std::isnan(actual) && std::isnan(element.expected));
        const double error = same ? 0 : std::abs(actual - element.expected);
        largest = std::isnan(error) ? INFINITY : std::max(largest, error);
      }
    }
    return largest;
  }

  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::Stream> stream_;
  std::mutex mutex_;  // one request at a time
  const SteadyClock clock_;
  std::atomic<double> busy_seconds_ = 0;
};

}  // namespace

Result<std::unique_ptr<measure::Runner>> start_runner(const target::Target& target) {
  ATTUNE_ASSIGN(const Machine machine, machine_of(target));
  auto device = open_device(machine);
  ATTUNE_ASSIGN(auto stream, device->open_stream({}));
  return std::unique_ptr<measure::Runner>(new Runner(std::move(device), std::move(stream)));
}

}  // namespace attune::sim
