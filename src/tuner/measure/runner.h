// What tuning needs of the world, as two interfaces: a Builder turns schedules into machine code, a
// Runner runs that code on a device and says what became of it. The session knows only these; local
// cores, remote devices and simulations stand behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "tuner/outcome/outcome.h"
#include "tuner/records/record.h"
#include "tuner/space/candidate.h"

namespace attune::measure {

// A kernel as a device loads it.
struct KernelCode {
  std::shared_ptr<const std::vector<std::byte>> object;
  std::string symbol;
  std::vector<kernel::Parameter> parameters;
  std::int64_t workspace_bytes = 0;
  std::uint64_t id = 0;  // of the kernel it was made from: equal ids compute the same
};

struct BuildRequest {
  space::Candidate candidate;
  // The program that its trace is made for, i.e. already that of its algorithm.
  std::shared_ptr<const ir::Program> program;
  bool whatever_it_costs = false;  // built even beyond the builder's limits
  // Looked at between the steps of building, none of which is cut short; 0: no limit.
  double timeout_ms = 0;
};

struct BuiltCandidate {
  std::int64_t number = 0;
  std::shared_ptr<const KernelCode> main;     // null when the build failed
  std::shared_ptr<const KernelCode> prepare;  // null when there is nothing to compute ahead
  std::optional<outcome::Outcome> failure;    // BuildFailed, or TimedOut when that took too long
  int threads = 1;
  double build_ms = 0;    // altogether
  double codegen_ms = 0;  // of the main kernel's code generation
};

// One element of an output that must come out near `expected`.
struct ExpectedElement {
  int output = 0;
  std::int64_t index = 0;
  double expected = 0;
};

// How inputs are made and what must come out: program input i holds runtime::fill(seed, i).
struct Expectation {
  std::uint64_t seed = 0;
  std::vector<ExpectedElement> elements;  // empty: nothing is checked
  // The same when inputs that are no constants are of another seed, at a few places: for a look at
  // what a kernel makes of inputs that it has not seen.
  std::uint64_t fresh_seed = 0;
  std::vector<ExpectedElement> fresh = {};
  double magnitude = 0;  // largest |expected|
};

class Builder {
 public:
  virtual ~Builder() = default;
  // As many results as requests, in the same order. May be called from any thread.
  virtual std::vector<BuiltCandidate> build(std::span<const BuildRequest> requests) = 0;
  // What the unscheduled program computes at sampled places, corners and borders among them, from
  // inputs made with `seed`.
  virtual Result<Expectation> expect(const ir::Program& program, std::uint64_t seed) = 0;
};

struct RunRequest {
  const BuiltCandidate* candidate = nullptr;  // built successfully
  double absolute_tolerance = 0;
};

struct RunOptions {
  records::Weights weights = records::Weights::Hot;
  double best_known_us = 0;          // 0: none
  double close_ratio = 1.5;          // slower than the best by this factor: one repeat is enough
  double long_call_us = 8'000;       // calls of this length are less noisy, and dear:
  double long_close_ratio = 1.15;    // this is the factor then, and rounds are fewer
  double repeat_us = 1'000;          // a repeat is as many calls as take about this long
  double budget_us = 15'000;         // what the others' repeats take altogether
  int again = 6;                     // so many of the fastest, when the machine was unsteady
  double timeout_ms = 10'000;        // for the calls of one candidate
  int compare_rounds = 6;            // of compare()
  double compare_round_ms = 400;     // a round that is shorter is followed by a pause
  double compare_repeat_us = 4'000;  // per candidate and round
};

struct RunResult {
  outcome::Outcome outcome;
  records::NoiseFacts noise;
  double run_ms = 0;
  double wait_ms = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // One after the other; as many results as requests, in the same order. The loss of the device is
  // an outcome too; an Error means that the request itself makes no sense.
  virtual Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                                 const Expectation& expectation,
                                                 const RunOptions& options) = 0;
  // In turns, so that all meet the same moods of the machine: for naming a winner among a few.
  virtual Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                                 const Expectation& expectation,
                                                 const RunOptions& options) = 0;
  // What it runs on, for the records.
  virtual std::string device() const = 0;
  // Its clocks, temperature and the like at this moment, for reports; empty where nobody knows.
  virtual std::string condition() { return {}; }
  // How long the device has worked so far, pauses and waiting not counted.
  virtual double busy_seconds() const = 0;
};

}  // namespace attune::measure
