#include "app/api/bench.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/api/executable.h"
#include "app/api/isolated.h"
#include "base/clock.h"
#include "runtime/affinity.h"
#include "tuner/measure/probe/machine.h"

namespace attune::api {
namespace {

// A sample is as many calls as take about this long: the clock itself costs some 50 ns.
constexpr double kSampleUs = 10;
constexpr std::size_t kMostSamples = 1'000'000;
constexpr std::size_t kFewestSamples = 5;
constexpr double kWarmUpSeconds = 0.05;

struct Samples {
  std::vector<double> call_us;
  std::int64_t calls = 0;
};

Result<double> time_calls(Executable& executable, const Clock& clock, std::int64_t calls) {
  const std::int64_t start = clock.now_ns();
  for (std::int64_t i = 0; i < calls; ++i) ATTUNE_RETURN_IF_ERROR(executable.run());
  return seconds_between(start, clock.now_ns()) * 1e6 / static_cast<double>(calls);
}

Result<Samples> sample(Executable& executable, const BenchOptions& options) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  double call_us = 0;
  do {
    ATTUNE_ASSIGN(call_us, time_calls(executable, clock, 1));
  } while (seconds_between(start, clock.now_ns()) < kWarmUpSeconds);

  Samples samples;
  const auto calls = std::max<std::int64_t>(1, std::llround(kSampleUs / std::max(call_us, 1e-3)));
  const std::int64_t begin = clock.now_ns();
  const auto wanted = static_cast<std::size_t>(options.repeats);
  const auto finished = [&] {
    if (wanted > 0) return samples.call_us.size() >= wanted;
    if (samples.call_us.size() < kFewestSamples) return false;
    return samples.call_us.size() >= kMostSamples ||
           seconds_between(begin, clock.now_ns()) >= options.seconds;
  };
  while (!finished()) {
    ATTUNE_ASSIGN(const double us, time_calls(executable, clock, calls));
    samples.call_us.push_back(us);
    samples.calls += calls;
  }
  return samples;
}

// The same in a child: should the kernel crash, only that ends.
Result<Samples> sample_isolated(const OperatorModel& model, const measure::BuiltCandidate& built,
                                const BenchOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(Executable executable, Executable::load(model, built));
    executable.fill_inputs(options.seed);
    ATTUNE_RETURN_IF_ERROR(executable.start_threads());
    ATTUNE_RETURN_IF_ERROR(executable.prepare());
    ATTUNE_ASSIGN(const Samples samples, sample(executable, options));
    Bytes bytes;
    append_value(bytes, samples.calls);
    for (const double us : samples.call_us) append_value(bytes, us);
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated(model.task.spec, work));
  std::span<const char> bytes = answer;
  Samples samples;
  samples.calls = take_value<std::int64_t>(bytes);
  while (!bytes.empty()) samples.call_us.push_back(take_value<double>(bytes));
  return samples;
}

// The smallest value that so large a part of the values does not exceed.
double quantile(const std::vector<double>& ascending, double part) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(part * static_cast<double>(ascending.size())));
  return ascending[std::max<std::size_t>(rank, 1) - 1];
}

Latency summarize(std::vector<double> call_us) {
  std::sort(call_us.begin(), call_us.end());
  return {call_us.front() * 1e-3, quantile(call_us, 0.5) * 1e-3, quantile(call_us, 0.9) * 1e-3,
          quantile(call_us, 0.99) * 1e-3};
}

}  // namespace

Result<double> quick_peak_gflops(int threads) {
  probe::PeakOptions options;
  options.cores = runtime::allowed_cores();
  options.cores.resize(static_cast<std::size_t>(threads));
  options.seconds = 0.05;
  options.triad_bytes = std::int64_t{1} << 20;  // the bandwidth is not asked for
  ATTUNE_ASSIGN(const probe::Peaks peaks, probe::measure_peaks(options));
  return peaks.peak_gflops_all;
}

Result<BenchReport> bench(const BenchOptions& options) {
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Run));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, options.schedule));
  ATTUNE_ASSIGN(const measure::BuiltCandidate built, build_schedule(model, known));
  BenchReport report{.model = model.task.spec,
                     .key = model.task.key,
                     .target = model.target_text(),
                     .threads = model.target.threads,
                     .schedule = known.source,
                     .schedule_text = describe(known),
                     .trace = schedule::to_string(known.trace)};
  if (options.measure_peak) {
    ATTUNE_ASSIGN(report.peak_gflops, quick_peak_gflops(report.threads));
  }
  ATTUNE_ASSIGN(Samples samples, sample_isolated(model, built, options));
  report.calls = samples.calls;
  report.latency = summarize(std::move(samples.call_us));
  report.gflops = model.task.flops / (report.latency.min_ms * 1e6);
  return report;
}

std::string to_json(const BenchReport& report) {
  nlohmann::ordered_json json;
  json["model"] = report.model;
  json["key"] = report.key;
  json["latency_ms"] = {{"min", report.latency.min_ms},
                        {"median", report.latency.median_ms},
                        {"p90", report.latency.p90_ms},
                        {"p99", report.latency.p99_ms}};
  json["gflops"] = report.gflops;
  if (report.peak_gflops > 0) {
    json["peak_gflops"] = report.peak_gflops;
    json["percent_of_peak"] = report.percent_of_peak();
  }
  json["threads"] = report.threads;
  json["target"] = report.target;
  json["schedule"] = name_of(report.schedule);
  json["trace"] = report.trace;
  json["calls"] = report.calls;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::api
