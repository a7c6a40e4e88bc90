#include "tuner/measure/local_runner.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "runtime/affinity.h"
#include "tuner/measure/prepared_constants.h"

namespace attune::measure {
namespace {

using runtime::Timing;

const Timing* timing_of(const RunResult& result) { return std::get_if<Timing>(&result.outcome); }

// Where each of the program's outputs lies among the kernel's buffers.
std::vector<int> output_buffers(const KernelCode& code) {
  std::vector<int> places;
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const Parameter& parameter = code.parameters[i];
    if (parameter.kind != ParameterKind::Output) continue;
    places.resize(std::max(places.size(), static_cast<std::size_t>(parameter.index) + 1));
    places[static_cast<std::size_t>(parameter.index)] = static_cast<int>(i);
  }
  return places;
}

probe::Verification verification_of(const RunRequest& request, const Expectation& expectation) {
  probe::Verification verification;
  const std::vector<int> buffers = output_buffers(*request.candidate->main);
  for (const ExpectedElement& element : expectation.elements) {
    verification.samples.push_back({.buffer = buffers[static_cast<std::size_t>(element.output)],
                                    .index = element.index,
                                    .expected = element.expected});
  }
  verification.absolute_tolerance = request.absolute_tolerance;
  return verification;
}

// Two looks at the same candidate as one. A failure in the second counts: it is its own.
void merge(RunResult& first, RunResult&& second) {
  const Timing* again = timing_of(second);
  const Timing* before = timing_of(first);
  if (before == nullptr || std::holds_alternative<runtime::InfrastructureLost>(second.outcome)) {
    return;
  }
  if (again != nullptr) {
    Timing both = *again;
    both.best_us = std::min(before->best_us, again->best_us);
    both.repeats += before->repeats;
    both.noisy = before->noisy && again->noisy;
    both.max_error = std::max(before->max_error, again->max_error);
    second.outcome = both;
  }
  second.run_ms += first.run_ms;
  first = std::move(second);
}

}  // namespace

CorePlan plan_cores(const std::vector<int>& available, int threads) {
  const auto wanted = static_cast<std::size_t>(std::max(threads, 1));
  if (wanted >= available.size()) return {available, available, false};
  // The first core takes most interrupts: it builds.
  const auto cut = available.end() - static_cast<std::ptrdiff_t>(wanted);
  return {{cut, available.end()}, {available.begin(), cut}, true};
}

CorePlan plan_cores(int threads) { return plan_cores(runtime::allowed_cores(), threads); }

class LocalRunner::Impl {
 public:
  Impl(LocalRunnerOptions options, probe::Runner probe)
      : options_(std::move(options)),
        probe_(std::move(probe)),
        constants_(options_.prepared_bytes) {}

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation, const RunOptions& options);
  Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                         const Expectation& expectation, const RunOptions& options);
  const std::string& device() const { return options_.device; }

 private:
  // The requests that can run, as the child takes them; the others have their outcome in `results`.
  struct Ready {
    std::vector<probe::Candidate> candidates;
    std::vector<std::size_t> places;  // in `results`
  };
  Result<Ready> prepare(std::span<const RunRequest> requests, const Expectation& expectation,
                        const RunOptions& options, std::vector<RunResult>& results);
  // Measures ready[begin, end) for about `budget_us` each.
  Status pass(const Ready& ready, std::size_t begin, std::size_t end, double best_known_us,
              double budget_us, const RunOptions& options, std::vector<RunResult>& results);
  void collect(const probe::Batch& batch, double batch_ms, std::span<const std::size_t> places,
               std::vector<RunResult>& results);

  LocalRunnerOptions options_;
  probe::Runner probe_;
  std::mutex mutex_;  // one request at a time
  PreparedConstants constants_;
  SteadyClock clock_;
};

Result<LocalRunner::Impl::Ready> LocalRunner::Impl::prepare(std::span<const RunRequest> requests,
                                                            const Expectation& expectation,
                                                            const RunOptions& options,
                                                            std::vector<RunResult>& results) {
  Ready ready;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const BuiltCandidate& built = *requests[i].candidate;
    CHECK(built.main != nullptr, "a candidate that was not built cannot be run");
    std::vector<probe::Bytes> prepared;
    if (built.prepare) {
      ATTUNE_ASSIGN(auto answer,
                    constants_.of(built, expectation.seed, options.timeout_ms, probe_));
      if (const auto* failure = std::get_if<runtime::Outcome>(&answer)) {
        results[i].outcome = *failure;
        continue;
      }
      prepared = std::get<0>(std::move(answer));
    }
    ready.candidates.push_back(candidate_of(*built.main, built.threads, expectation.seed, prepared,
                                            options.weights == records::Weights::Cold));
    ready.candidates.back().verification = verification_of(requests[i], expectation);
    ready.places.push_back(i);
  }
  return ready;
}

void LocalRunner::Impl::collect(const probe::Batch& batch, double batch_ms,
                                std::span<const std::size_t> places,
                                std::vector<RunResult>& results) {
  const double share_ms = batch_ms / static_cast<double>(std::max<std::size_t>(places.size(), 1));
  for (std::size_t i = 0; i < places.size(); ++i) {
    RunResult result;
    result.outcome = batch.candidates[i].outcome;
    result.noise.sentinel_drift = batch.drift;
    result.run_ms = share_ms;
    if (const Timing* timing = timing_of(result)) result.noise.cv = timing->cv;
    RunResult& slot = results[places[i]];
    if (timing_of(slot) != nullptr && timing_of(slot)->repeats > 0) {
      merge(slot, std::move(result));
    } else {
      slot = std::move(result);
    }
  }
}

Status LocalRunner::Impl::pass(const Ready& ready, std::size_t begin, std::size_t end,
                               double best_known_us, double budget_us, const RunOptions& options,
                               std::vector<RunResult>& results) {
  if (begin == end) return {};
  std::vector<probe::Candidate> batch(ready.candidates.begin() + static_cast<long>(begin),
                                      ready.candidates.begin() + static_cast<long>(end));
  for (probe::Candidate& candidate : batch) candidate.best_known_us = best_known_us;
  const probe::MeasureOptions how{
      .budget_us = budget_us, .min_repeats = 2, .timeout_ms = options.timeout_ms};
  const std::int64_t start = clock_.now_ns();
  auto measured = probe_.measure(batch, how);
  if (!measured.ok()) return measured.error();
  collect(*measured, seconds_between(start, clock_.now_ns()) * 1e3,
          std::span(ready.places).subspan(begin, end - begin), results);
  return {};
}

Result<std::vector<RunResult>> LocalRunner::Impl::measure(std::span<const RunRequest> requests,
                                                          const Expectation& expectation,
                                                          const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  std::vector<RunResult> results(requests.size());
  ATTUNE_ASSIGN(const Ready ready, prepare(requests, expectation, options, results));
  double best_us = options.best_known_us;
  const auto learn_best = [&] {
    for (const std::size_t place : ready.places) {
      const Timing* timing = timing_of(results[place]);
      if (timing == nullptr || timing->repeats == 0) continue;
      best_us = best_us > 0 ? std::min(best_us, timing->best_us) : timing->best_us;
    }
  };
  // Without a best the first of the batch becomes one, so that the others can be cut short.
  const std::size_t head = best_us > 0 ? 0 : std::min<std::size_t>(1, ready.places.size());
  ATTUNE_RETURN_IF_ERROR(pass(ready, 0, head, best_us, options.look_us, options, results));
  learn_best();
  ATTUNE_RETURN_IF_ERROR(
      pass(ready, head, ready.places.size(), best_us, options.look_us, options, results));
  learn_best();

  Ready close;
  for (std::size_t i = 0; i < ready.places.size(); ++i) {
    const Timing* timing = timing_of(results[ready.places[i]]);
    if (timing == nullptr || timing->best_us > options.close_ratio * best_us) continue;
    close.candidates.push_back(ready.candidates[i]);
    close.places.push_back(ready.places[i]);
  }
  ATTUNE_RETURN_IF_ERROR(pass(close, 0, close.places.size(), best_us,
                              std::max(0.0, options.close_us - options.look_us), options, results));
  return results;
}

Result<std::vector<RunResult>> LocalRunner::Impl::compare(std::span<const RunRequest> requests,
                                                          const Expectation& expectation,
                                                          const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  std::vector<RunResult> results(requests.size());
  ATTUNE_ASSIGN(const Ready ready, prepare(requests, expectation, options, results));
  if (ready.places.empty()) return results;
  const probe::InterleaveOptions how{
      .measure = {.repeat_us = options.compare_repeat_us, .timeout_ms = options.timeout_ms},
      .rounds = options.compare_rounds,
      .round_gap_ms = options.compare_gap_ms};
  const std::int64_t start = clock_.now_ns();
  ATTUNE_ASSIGN(const probe::Batch batch, probe_.measure_interleaved(ready.candidates, how));
  collect(batch, seconds_between(start, clock_.now_ns()) * 1e3, ready.places, results);
  return results;
}

LocalRunner::LocalRunner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalRunner::~LocalRunner() = default;

Result<std::unique_ptr<LocalRunner>> LocalRunner::start(LocalRunnerOptions options) {
  ATTUNE_ASSIGN(probe::Runner probe, probe::Runner::start({.cores = options.cores}));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(probe));
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

}  // namespace attune::measure
