// A world made of arithmetic, for tests of the session: schedules are numbers, and what becomes of
// each is a function of its number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "tuner/measure/runner.h"
#include "tuner/session/search.h"
#include "tuner/session/task.h"

namespace attune::session {

inline schedule::Trace fake_trace(std::int64_t n) {
  return {schedule::Annotate{"anchor", "*", "choice", std::to_string(n)}};
}
inline std::int64_t number_in(const schedule::Trace& trace) {
  return std::stoll(std::get<schedule::Annotate>(trace.at(0)).value);
}

inline Task fake_task() {
  ir::Program program;
  program.name = "copy";
  const ir::Buffer a = ir::add_input(program, "A", ir::kF32, {4});
  const ir::Axis i{"i", 4};
  program.outputs = {ir::add_compute(program, "anchor", {i}, ir::load(a, {axis_var(i)}))};
  Task task;
  task.key = "00000000000000ab";
  task.name = "copy:m=4";
  task.flops = 1e6;
  task.algorithms = {{"direct", std::make_shared<const ir::Program>(std::move(program)), 1e-5}};
  return task;
}

// What becomes of each number; the default schedule is number 0.
struct FakeWorld {
  bool all_fail = false;
  bool others_fail = false;  // all but the default
  bool default_fails = false;
  std::set<std::int64_t> lost;  // the device is lost whenever these run
  double fastest = 37;

  double time_us(std::int64_t n) const { return 100 + std::abs(static_cast<double>(n) - fastest); }
  bool build_fails(std::int64_t n) const { return n != 0 && n % 7 == 3; }
  outcome::Outcome outcome(std::int64_t n) const {
    if (lost.count(n) != 0) return outcome::InfrastructureLost{outcome::Phase::Run, "unplugged"};
    if (all_fail || (n == 0 ? default_fails : others_fail)) {
      return outcome::RunCrashed{outcome::Phase::Run, 11, "fell over"};
    }
    if (n % 11 == 5) return outcome::WrongAnswer{outcome::Phase::Verify, 3.0, "off by 3"};
    outcome::Timing timing;
    timing.best_us = timing.median_us = time_us(n);
    timing.repeats = 5;
    timing.verified = true;
    return timing;
  }
};

class FakeBuilder final : public measure::Builder {
 public:
  explicit FakeBuilder(const FakeWorld& world) : world_(world) {}
  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override {
    std::vector<measure::BuiltCandidate> built;
    for (const measure::BuildRequest& request : requests) {
      const std::int64_t n = number_in(request.candidate.trace);
      measure::BuiltCandidate candidate;
      candidate.number = request.candidate.number;
      if (world_.build_fails(n)) {
        candidate.failure = outcome::BuildFailed{outcome::Phase::Build, "lower: unlucky number"};
      } else {
        auto code = std::make_shared<measure::KernelCode>();
        code->id = static_cast<std::uint64_t>(n);
        candidate.main = code;
      }
      built.push_back(std::move(candidate));
    }
    return built;
  }
  Result<measure::Expectation> expect(const ir::Program&, std::uint64_t seed) override {
    return measure::Expectation{.seed = seed, .elements = {{0, 0, 1.0}}, .magnitude = 1.0};
  }

 private:
  const FakeWorld& world_;
};

class FakeRunner final : public measure::Runner {
 public:
  explicit FakeRunner(const FakeWorld& world) : world_(world) {}
  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation&,
                                                  const measure::RunOptions&) override {
    std::vector<measure::RunResult> results;
    for (const measure::RunRequest& request : requests) {
      ++runs;
      const auto n = static_cast<std::int64_t>(request.candidate->main->id);
      results.push_back({.outcome = world_.outcome(n), .noise = {}, .run_ms = 1, .wait_ms = 0});
      const auto unsteady = noisy.find(n);
      if (unsteady == noisy.end() || unsteady->second == 0) continue;
      --unsteady->second;
      if (auto* timing = std::get_if<outcome::Timing>(&results.back().outcome)) {
        timing->noisy = true;
        timing->best_us *= 1.2;
      }
    }
    return results;
  }
  // Slower by a tenth than the first look, as on another day.
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override {
    auto results = measure(requests, expectation, options);
    for (measure::RunResult& result : *results) {
      if (auto* timing = std::get_if<outcome::Timing>(&result.outcome)) timing->best_us *= 1.1;
    }
    return results;
  }
  std::string device() const override { return "fake"; }
  double busy_seconds() const override { return 1e-3 * runs; }
  int runs = 0;
  std::map<std::int64_t, int> noisy;  // the machine is unsteady when these run, so many times

 private:
  const FakeWorld& world_;
};

// Numbers 1 … size-1: half near the best so far, half anywhere; both depend on seed and history.
class FakeSearch final : public Search {
 public:
  FakeSearch(std::uint64_t seed, std::int64_t size) : random_(seed), size_(size) {}

  std::vector<space::Candidate> select(std::size_t count) override {
    std::vector<space::Candidate> proposals;
    while (proposals.size() < count && static_cast<std::int64_t>(seen_.size()) < size_ - 1) {
      random_ = hash_combine(random_, 1);
      std::int64_t n = static_cast<std::int64_t>(random_ % static_cast<std::uint64_t>(size_ - 1));
      if (random_ >> 63) n = best_ + n % 9 - 4;
      for (n = std::clamp<std::int64_t>(n, 1, size_ - 1); !seen_.insert(n).second;) {
        n = n % (size_ - 1) + 1;
      }
      const schedule::Trace trace = fake_trace(n);
      proposals.push_back({.trace = trace,
                           .trace_hash = schedule::hash(trace),
                           .predicted_us = static_cast<double>(n)});
    }
    return proposals;
  }
  void update(std::span<const space::Candidate> tried) override {
    for (const space::Candidate& candidate : tried) {
      const std::int64_t n = number_in(candidate.trace);
      observed.push_back({n, candidate.time_us});
      if (!candidate.time_us || (best_us_ > 0 && *candidate.time_us >= best_us_)) continue;
      best_us_ = *candidate.time_us;
      best_ = n;
    }
  }
  RejectionCounts rejections() const override {
    return {{"even", static_cast<std::int64_t>(seen_.size())}};
  }
  std::string changes() override {  // all of it, each time
    std::ostringstream text;
    text << random_ << ' ' << best_ << ' ' << best_us_;
    for (const std::int64_t n : seen_) text << ' ' << n;
    return text.str();
  }
  Status restore(std::span<const std::string> changes) override {
    std::istringstream text{changes.back()};
    text >> random_ >> best_ >> best_us_;
    seen_.clear();
    for (std::int64_t n = 0; text >> n;) seen_.insert(n);
    return {};
  }

  std::vector<std::pair<std::int64_t, std::optional<double>>> observed;

 private:
  std::uint64_t random_;
  std::int64_t size_;
  std::int64_t best_ = 1;
  double best_us_ = 0;
  std::set<std::int64_t> seen_;
};

class FakeClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return now += 1'000'000; }  // each look costs 1 ms
  mutable std::atomic<std::int64_t> now = 0;
};

}  // namespace attune::session
