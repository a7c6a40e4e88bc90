#include "tuner/measure/device_runner/device_runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/clock.h"
#include "tuner/measure/device_runner/connection.h"
#include "tuner/measure/device_runner/wanted.h"
#include "tuner/measure/probe/timing_loop.h"
#include "tuner/measure/probe/verification.h"

namespace attune::device_runner {
namespace {

using measure::Expectation;
using measure::RunOptions;
using measure::RunRequest;
using measure::RunResult;
using outcome::Phase;
using outcome::Timing;

std::vector<Place> places_of(const std::vector<measure::ExpectedElement>& elements) {
  std::vector<Place> places;
  for (const measure::ExpectedElement& each : elements) places.push_back({each.output, each.index});
  return places;
}

std::vector<probe::Sample> samples_of(const std::vector<measure::ExpectedElement>& elements) {
  std::vector<probe::Sample> samples;
  for (const measure::ExpectedElement& each : elements) {
    samples.push_back({.buffer = each.output, .index = each.index, .expected = each.expected});
  }
  return samples;
}

// One candidate while it is measured.
class Measured {
 public:
  Measured(Connection& connection, std::uint64_t id, const RunRequest& request,
           const Expectation& expectation, const RunOptions& options, std::int64_t rotate_bytes)
      : connection_(connection), id_(id), options_(options) {
    const measure::BuiltCandidate& candidate = *request.candidate;
    wanted_.main = *candidate.main;
    if (candidate.prepare != nullptr) wanted_.prepare = *candidate.prepare;
    wanted_.seed = expectation.seed;
    wanted_.fresh_seed = expectation.fresh_seed;
    wanted_.samples = places_of(expectation.elements);
    wanted_.fresh = places_of(expectation.fresh);
    wanted_.cold = options.weights == records::Weights::Cold;
    wanted_.rotate_bytes = rotate_bytes;
    verification_.samples = samples_of(expectation.elements);
    verification_.fresh = samples_of(expectation.fresh);
    verification_.absolute_tolerance = request.absolute_tolerance;
  }

  const std::optional<outcome::Outcome>& failure() const { return failure_; }
  double first_us() const { return first_us_; }

  // Loads it and looks at its first answer, unless the process that is there has done so.
  bool begin() {
    (void)connection_.ensure_open();
    if (failure_ || generation_ == connection_.generation()) return !failure_;
    Reply reply = ask(Kind::Run, to_bytes(wanted_), Phase::Load);
    if (failure_) return false;
    generation_ = connection_.generation();
    AnswerReader reader(reply.done);
    first_us_ = reader.value<double>();
    return look_at(reader, verification_.samples);
  }

  bool time(const probe::MeasureOptions& how, double best_known_us) {
    if (!begin()) return false;
    Reply reply = ask(Kind::Time, to_bytes(how, best_known_us), Phase::Run);
    if (failure_) return false;
    AnswerReader reader(reply.done);
    timing_ = timing_from(reader);
    return look_at(reader, verification_.samples);
  }

  bool repeat(std::int64_t calls) {
    if (!begin()) return false;
    Reply reply = ask(Kind::Repeat, to_bytes(calls), Phase::Run);
    if (failure_) return false;
    AnswerReader reader(reply.done);
    repeats_us_.push_back(reader.value<double>());
    return true;
  }

  // What it makes of inputs that it has not seen; then it is forgotten.
  void end() {
    if (!failure_ && !verification_.fresh.empty() && begin()) {
      Reply reply = ask(Kind::Fresh, {}, Phase::Verify);
      if (!failure_) {
        AnswerReader reader(reply.done);
        (void)look_at(reader, verification_.fresh);
      }
    }
    if (generation_ == connection_.generation()) {
      (void)connection_.ask(Kind::Forget, id_, {}, Phase::Load, options_.timeout_ms);
    }
  }

  outcome::Outcome outcome(std::int64_t calls = 0) {
    if (failure_) return *failure_;
    if (!repeats_us_.empty()) timing_ = probe::summarize(repeats_us_, calls);
    timing_.cold_weights = wanted_.cold;
    timing_.verified = !verification_.samples.empty();
    timing_.max_error = max_error_;
    return timing_;
  }

 private:
  Reply ask(Kind kind, const Bytes& bytes, Phase phase) {
    Reply reply = connection_.ask(kind, id_, bytes, phase, options_.timeout_ms);
    failure_ = reply.failure;
    return reply;
  }

  bool look_at(AnswerReader& reader, const std::vector<probe::Sample>& samples) {
    const std::vector<double> values = values_from(reader);
    if (values.size() != samples.size() || !reader.status().ok()) {
      failure_ = outcome::InfrastructureLost{Phase::Verify, "the device's answer is cut off"};
      return false;
    }
    const probe::Comparison found = probe::compare(verification_, samples, values);
    max_error_ = std::max(max_error_, found.max_error);
    if (found.right) return true;
    failure_ = outcome::WrongAnswer{Phase::Verify, found.max_error,
                                    probe::describe_wrong(verification_, found)};
    connection_.renew();  // it may have written where others read
    return false;
  }

  Connection& connection_;
  const std::uint64_t id_;
  const RunOptions& options_;
  Wanted wanted_;
  probe::Verification verification_;
  std::optional<outcome::Outcome> failure_;
  std::uint64_t generation_ = 0;
  double first_us_ = 0, max_error_ = 0;
  Timing timing_;
  std::vector<double> repeats_us_;
};

class DeviceRunner final : public measure::Runner {
 public:
  explicit DeviceRunner(DeviceRunnerOptions options)
      : options_(std::move(options)), connection_(options_) {}

  Status open() { return connection_.ensure_open(); }

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override {
    const std::lock_guard lock(mutex_);
    std::vector<RunResult> results;
    double best_us = options.best_known_us;
    for (const RunRequest& request : requests) {
      const std::int64_t start = clock_.now_ns();
      Measured one(connection_, ++last_id_, request, expectation, options, options_.rotate_bytes);
      const bool long_calls = best_us > options.long_call_us;
      (void)one.time({.repeat_us = options.repeat_us,
                      .budget_us = options.budget_us,
                      .min_repeats = 1,
                      .cut_ratio = long_calls ? options.long_close_ratio : options.close_ratio,
                      .timeout_ms = options.timeout_ms},
                     best_us);
      one.end();
      results.push_back(result_of(one.outcome(), start));
      if (const auto* timing = std::get_if<Timing>(&results.back().outcome)) {
        best_us = best_us > 0 ? std::min(best_us, timing->best_us) : timing->best_us;
      }
    }
    return results;
  }

  Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override {
    const std::lock_guard lock(mutex_);
    const std::int64_t start = clock_.now_ns();
    std::vector<Measured> all;
    all.reserve(requests.size());
    std::vector<std::int64_t> calls;
    for (const RunRequest& request : requests) {
      all.emplace_back(connection_, ++last_id_, request, expectation, options,
                       options_.rotate_bytes);
      (void)all.back().begin();
      calls.push_back(probe::calls_per_repeat(
          std::max(all.back().first_us(), options.best_known_us), options.compare_repeat_us));
    }
    const int rounds = options.best_known_us > options.long_call_us
                           ? (options.compare_rounds * 2 + 2) / 3
                           : options.compare_rounds;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) (void)all[i].repeat(calls[i]);
    }
    std::vector<RunResult> results;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].end();
      results.push_back(result_of(all[i].outcome(calls[i]), start));
    }
    for (RunResult& result : results) result.run_ms /= static_cast<double>(results.size());
    return results;
  }

  std::string device() const override { return options_.device; }
  std::string condition() override {
    const std::lock_guard lock(mutex_);
    constexpr double kPatienceMs = 5000;
    const Reply reply = connection_.ask(Kind::Condition, 0, {}, Phase::Load, kPatienceMs);
    return reply.failure ? "" : AnswerReader(reply.done).text();
  }
  double busy_seconds() const override { return busy_seconds_; }

 private:
  RunResult result_of(outcome::Outcome outcome, std::int64_t start_ns) {
    RunResult result{std::move(outcome), {}, 0, 0};
    const std::int64_t now = clock_.now_ns();
    result.run_ms = seconds_between(start_ns, now) * 1e3;
    busy_seconds_ = busy_seconds_ + seconds_between(std::max(start_ns, counted_ns_), now);
    counted_ns_ = now;
    if (const auto* timing = std::get_if<Timing>(&result.outcome)) result.noise.cv = timing->cv;
    return result;
  }

  const DeviceRunnerOptions options_;
  Connection connection_;
  std::mutex mutex_;  // one request at a time
  std::uint64_t last_id_ = 0;
  const SteadyClock clock_;
  std::int64_t counted_ns_ = 0;
  std::atomic<double> busy_seconds_ = 0;
};

}  // namespace

Result<std::unique_ptr<measure::Runner>> start_device_runner(DeviceRunnerOptions options) {
  auto runner = std::make_unique<DeviceRunner>(std::move(options));
  ATTUNE_RETURN_IF_ERROR(runner->open());
  return std::unique_ptr<measure::Runner>(std::move(runner));
}

}  // namespace attune::device_runner
