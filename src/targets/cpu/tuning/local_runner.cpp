#include "targets/cpu/tuning/local_runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "compiler/kernel/kernel.h"
#include "runtime/execution/affinity.h"
#include "targets/cpu/device/device.h"
#include "targets/cpu/tuning/cage.h"
#include "targets/cpu/tuning/probe_request.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/measure/probe/runner.h"

namespace attune::cpu {
namespace {

using measure::Expectation;
using measure::ExpectedElement;
using measure::KernelCode;
using measure::RunOptions;
using measure::RunRequest;
using measure::RunResult;
using outcome::Timing;

const Timing* timing_of(const RunResult& result) { return std::get_if<Timing>(&result.outcome); }

// Where each of the program's outputs lies among the kernel's buffers.
std::vector<int> output_buffers(const KernelCode& code) {
  std::vector<int> places;
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const kernel::Parameter& parameter = code.parameters[i];
    if (parameter.kind != kernel::ParameterKind::Output) continue;
    places.resize(std::max(places.size(), static_cast<std::size_t>(parameter.index) + 1));
    places[static_cast<std::size_t>(parameter.index)] = static_cast<int>(i);
  }
  return places;
}

probe::Verification verification_of(const RunRequest& request, const Expectation& expectation) {
  probe::Verification verification;
  const std::vector<int> buffers = output_buffers(*request.candidate->main);
  const auto sample_of = [&](const ExpectedElement& element) {
    return probe::Sample{.buffer = buffers[static_cast<std::size_t>(element.output)],
                         .index = element.index,
                         .expected = element.expected};
  };
  for (const ExpectedElement& each : expectation.elements) {
    verification.samples.push_back(sample_of(each));
  }
  verification.fresh_seed = expectation.fresh_seed;
  for (const ExpectedElement& each : expectation.fresh) {
    verification.fresh.push_back(sample_of(each));
  }
  verification.absolute_tolerance = request.absolute_tolerance;
  return verification;
}

// Two looks at the same candidate as one. A failure in the second counts: it is its own.
RunResult merged(RunResult first, RunResult second) {
  const Timing* again = timing_of(second);
  const Timing* before = timing_of(first);
  second.run_ms += first.run_ms;
  if (before == nullptr || std::holds_alternative<outcome::InfrastructureLost>(second.outcome)) {
    first.run_ms = second.run_ms;
    return first;
  }
  if (again != nullptr) {
    Timing both = *again;
    both.best_us = std::min(before->best_us, again->best_us);
    both.repeats += before->repeats;
    both.max_error = std::max(before->max_error, again->max_error);
    second.outcome = both;
  }
  return second;
}

RunResult result_of(const probe::Batch& batch, std::size_t i, double run_ms) {
  RunResult result;
  result.outcome = batch.candidates[i].outcome;
  result.noise.sentinel_drift = batch.drift;
  result.run_ms = run_ms;
  if (const Timing* timing = timing_of(result)) result.noise.cv = timing->cv;
  return result;
}

}  // namespace

tuning::CorePlan plan_cores(const std::vector<int>& available, const target::Target& target) {
  const auto wanted = static_cast<std::size_t>(std::max(target.threads, 1));
  if (wanted >= available.size()) return {available, available, false};
  // The first core takes most interrupts: it builds.
  const auto cut = available.end() - static_cast<std::ptrdiff_t>(wanted);
  return {{cut, available.end()}, {available.begin(), cut}, true};
}

class LocalRunner::Impl {
 public:
  explicit Impl(probe::Runner probe)
      : device_(probe::describe_machine().cpu), probe_(std::move(probe)) {}

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation, const RunOptions& options);
  Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                         const Expectation& expectation, const RunOptions& options);
  const std::string& device() const { return device_; }
  double busy_seconds() const { return busy_seconds_; }

 private:
  // The requests as the child takes them.
  struct Ready {
    std::vector<probe::Candidate> candidates;
    std::vector<std::size_t> places;  // in the results
  };
  static Ready prepare(std::span<const RunRequest> requests, const Expectation& expectation,
                       const RunOptions& options);
  // Measures ready[begin, end); whether the machine was too unsteady meanwhile.
  Result<bool> pass(const Ready& ready, std::size_t begin, std::size_t end, double best_known_us,
                    const RunOptions& options, std::vector<RunResult>& results);
  // Adds second timings of the fastest, if they are within reach of the best.
  Status look_again(const Ready& ready, double best_us, const RunOptions& options,
                    std::vector<RunResult>& results);

  const std::string device_;
  probe::Runner probe_;
  std::mutex mutex_;  // one request at a time
  SteadyClock clock_;
  std::atomic<double> busy_seconds_ = 0;
};

LocalRunner::Impl::Ready LocalRunner::Impl::prepare(std::span<const RunRequest> requests,
                                                    const Expectation& expectation,
                                                    const RunOptions& options) {
  Ready ready;
  for (std::size_t i = 0; i < requests.size(); ++i) ready.places.push_back(i);
  // Those with the same prepared constants follow each other, so that few are kept at once. The
  // first stays first: it may set the pace of the others.
  const auto preparation = [&](std::size_t i) {
    const auto& prepare = requests[i].candidate->prepare;
    return prepare == nullptr ? 0 : prepare->id;
  };
  if (!ready.places.empty()) {
    std::stable_sort(ready.places.begin() + 1, ready.places.end(),
                     [&](std::size_t a, std::size_t b) { return preparation(a) < preparation(b); });
  }
  for (const std::size_t i : ready.places) {
    ready.candidates.push_back(probe_request(*requests[i].candidate, expectation.seed,
                                             options.weights == records::Weights::Cold));
    ready.candidates.back().verification = verification_of(requests[i], expectation);
  }
  return ready;
}

Result<bool> LocalRunner::Impl::pass(const Ready& ready, std::size_t begin, std::size_t end,
                                     double best_known_us, const RunOptions& options,
                                     std::vector<RunResult>& results) {
  if (begin == end) return false;
  std::vector<probe::Candidate> batch(ready.candidates.begin() + static_cast<long>(begin),
                                      ready.candidates.begin() + static_cast<long>(end));
  for (probe::Candidate& candidate : batch) candidate.best_known_us = best_known_us;
  const bool long_calls = best_known_us > options.long_call_us;
  const probe::MeasureOptions how{
      .repeat_us = options.repeat_us,
      .budget_us = options.budget_us,
      .min_repeats = 1,
      .cut_ratio = long_calls ? options.long_close_ratio : options.close_ratio,
      .timeout_ms = options.timeout_ms,
      .remeasure_on_drift = false};
  const std::int64_t start = clock_.now_ns();
  ATTUNE_ASSIGN(const probe::Batch measured, probe_.measure(batch, how));
  const double batch_ms = seconds_between(start, clock_.now_ns()) * 1e3;
  busy_seconds_ = busy_seconds_ + batch_ms * 1e-3;
  for (std::size_t i = begin; i < end; ++i) {
    results[ready.places[i]] =
        result_of(measured, i - begin, batch_ms / static_cast<double>(batch.size()));
  }
  return measured.noisy;
}

Status LocalRunner::Impl::look_again(const Ready& ready, double best_us, const RunOptions& options,
                                     std::vector<RunResult>& results) {
  std::vector<std::pair<double, std::size_t>> fastest;
  for (std::size_t i = 0; i < ready.places.size(); ++i) {
    const Timing* timing = timing_of(results[ready.places[i]]);
    if (timing == nullptr || timing->best_us > options.close_ratio * best_us) continue;
    fastest.emplace_back(timing->best_us, i);
  }
  std::sort(fastest.begin(), fastest.end());
  fastest.resize(std::min(fastest.size(), static_cast<std::size_t>(std::max(options.again, 0))));
  Ready close;
  for (const auto& [time_us, i] : fastest) {
    close.candidates.push_back(ready.candidates[i]);
    close.places.push_back(ready.places[i]);
  }
  std::vector<RunResult> second(results.size());
  const auto noisy = pass(close, 0, close.places.size(), best_us, options, second);
  if (!noisy.ok()) return noisy.error();
  for (const std::size_t place : close.places) {
    results[place] = merged(std::move(results[place]), std::move(second[place]));
  }
  return {};
}

Result<std::vector<RunResult>> LocalRunner::Impl::measure(std::span<const RunRequest> requests,
                                                          const Expectation& expectation,
                                                          const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  std::vector<RunResult> results(requests.size());
  const Ready ready = prepare(requests, expectation, options);
  const std::size_t count = ready.places.size();
  double best_us = options.best_known_us;
  const auto learn_best = [&](std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) {
      const Timing* timing = timing_of(results[ready.places[i]]);
      if (timing == nullptr) continue;
      best_us = best_us > 0 ? std::min(best_us, timing->best_us) : timing->best_us;
    }
  };
  // Without a best the first of the batch becomes one, so that the others can be cut short.
  const std::size_t head = best_us > 0 ? 0 : std::min<std::size_t>(1, count);
  ATTUNE_ASSIGN(const bool noisy_head, pass(ready, 0, head, best_us, options, results));
  learn_best(head);
  ATTUNE_ASSIGN(const bool noisy_rest, pass(ready, head, count, best_us, options, results));
  learn_best(count);
  // An unsteady machine gets a second chance, where it matters.
  if (noisy_head || noisy_rest) {
    ATTUNE_RETURN_IF_ERROR(look_again(ready, best_us, options, results));
  }
  return results;
}

Result<std::vector<RunResult>> LocalRunner::Impl::compare(std::span<const RunRequest> requests,
                                                          const Expectation& expectation,
                                                          const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  std::vector<RunResult> results(requests.size());
  const Ready ready = prepare(requests, expectation, options);
  if (ready.places.empty()) return results;
  // A round calls each candidate once to warm up and then for its repeat.
  const double call_us = options.best_known_us;
  const double round_ms = static_cast<double>(ready.places.size()) *
                          (call_us + std::max(call_us, options.compare_repeat_us)) * 1e-3;
  const probe::InterleaveOptions how{
      .measure = {.repeat_us = options.compare_repeat_us,
                  .timeout_ms = options.timeout_ms,
                  .remeasure_on_drift = false},
      .rounds = call_us > options.long_call_us ? (options.compare_rounds * 2 + 2) / 3
                                               : options.compare_rounds,
      .round_gap_ms = std::max(0.0, options.compare_round_ms - round_ms)};
  const std::int64_t start = clock_.now_ns();
  ATTUNE_ASSIGN(const probe::Batch batch, probe_.measure_interleaved(ready.candidates, how));
  const double batch_ms = seconds_between(start, clock_.now_ns()) * 1e3;
  busy_seconds_ = busy_seconds_ + (batch_ms - how.round_gap_ms * (how.rounds - 1)) * 1e-3;
  for (std::size_t i = 0; i < ready.places.size(); ++i) {
    results[ready.places[i]] =
        result_of(batch, i, batch_ms / static_cast<double>(ready.places.size()));
  }
  return results;
}

LocalRunner::LocalRunner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalRunner::~LocalRunner() = default;

Result<std::unique_ptr<LocalRunner>> LocalRunner::start(const tuning::RunnerOptions& options) {
  ATTUNE_ASSIGN(
      probe::Runner probe,
      probe::Runner::start({.device = &device_kind, .cores = options.cores, .cage = &kCage}));
  auto impl = std::make_unique<Impl>(std::move(probe));
  return std::unique_ptr<LocalRunner>(new LocalRunner(std::move(impl)));
}

Result<std::vector<RunResult>> LocalRunner::measure(std::span<const RunRequest> requests,
                                                    const Expectation& expectation,
                                                    const RunOptions& options) {
  return impl_->measure(requests, expectation, options);
}

Result<std::vector<RunResult>> LocalRunner::compare(std::span<const RunRequest> requests,
                                                    const Expectation& expectation,
                                                    const RunOptions& options) {
  return impl_->compare(requests, expectation, options);
}

std::string LocalRunner::device() const { return impl_->device(); }
double LocalRunner::busy_seconds() const { return impl_->busy_seconds(); }

}  // namespace attune::cpu
