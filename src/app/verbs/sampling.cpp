#include "app/verbs/sampling.h"

#include <algorithm>
#include <cmath>

namespace attune::verbs {
namespace {

// A sample is as many calls as take about this long, and so many times as long as the clock itself
// takes: some 50 ns on a processor, several us where a device is asked.
constexpr double kSampleUs = 10, kSampleOfClock = 20;
constexpr std::int64_t kCallsOfShort = 32;
constexpr std::size_t kMostSamples = 1'000'000;
constexpr std::size_t kFewestSamples = 5;
constexpr double kWarmUpSeconds = 0.05;

Result<double> time_calls(const std::function<Status()>& call, const Clock& clock,
                          std::int64_t calls) {
  const std::int64_t start = clock.now_ns();
  for (std::int64_t i = 0; i < calls; ++i) ATTUNE_RETURN_IF_ERROR(call());
  return seconds_between(start, clock.now_ns()) * 1e6 / static_cast<double>(calls);
}

Status take_samples(const std::function<Result<double>()>& take, const SamplingOptions& options,
                    Samples& samples) {
  const SteadyClock wall;
  const std::int64_t begin = wall.now_ns();
  const auto wanted = static_cast<std::size_t>(options.repeats);
  const auto finished = [&] {
    if (wanted > 0) return samples.call_us.size() >= wanted;
    if (samples.call_us.size() < kFewestSamples) return false;
    return samples.call_us.size() >= kMostSamples ||
           seconds_between(begin, wall.now_ns()) >= options.seconds;
  };
  while (!finished()) {
    ATTUNE_ASSIGN(const double us, take());
    samples.call_us.push_back(us);
    ++samples.calls;
  }
  return {};
}

// The smallest value that so large a part of the values does not exceed.
double quantile(const std::vector<double>& ascending, double part) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(part * static_cast<double>(ascending.size())));
  return ascending[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Result<Samples> sample(const std::function<Status()>& call, const Clock& clock,
                       const SamplingOptions& options) {
  const SteadyClock wall;
  const std::int64_t start = wall.now_ns();
  double call_us = 0;
  do {
    ATTUNE_ASSIGN(call_us, time_calls(call, clock, 1));
  } while (seconds_between(start, wall.now_ns()) < kWarmUpSeconds);

  Samples samples;
  const std::int64_t look = clock.now_ns();
  const double clock_us = seconds_between(look, clock.now_ns()) * 1e6;
  const double sample_us = std::max(kSampleUs, kSampleOfClock * clock_us);
  if (call_us < kSampleOfClock * clock_us) {
    // Mostly the way to the device and back, which calls that wait for nobody go once together.
    ATTUNE_ASSIGN(call_us, time_calls(call, clock, kCallsOfShort));
  }
  const auto calls = std::max<std::int64_t>(1, std::llround(sample_us / std::max(call_us, 1e-3)));
  const auto take = [&] { return time_calls(call, clock, calls); };
  ATTUNE_RETURN_IF_ERROR(take_samples(take, options, samples));
  samples.calls *= calls;
  return samples;
}

Result<Samples> sample_times(const std::function<Result<double>()>& call_us,
                             const SamplingOptions& options) {
  const SteadyClock wall;
  const std::int64_t start = wall.now_ns();
  do {
    ATTUNE_RETURN_IF_ERROR(call_us());
  } while (seconds_between(start, wall.now_ns()) < kWarmUpSeconds);
  Samples samples;
  ATTUNE_RETURN_IF_ERROR(take_samples(call_us, options, samples));
  return samples;
}

Latency summarize(std::vector<double> call_us) {
  std::sort(call_us.begin(), call_us.end());
  return {call_us.front() * 1e-3, quantile(call_us, 0.5) * 1e-3, quantile(call_us, 0.9) * 1e-3,
          quantile(call_us, 0.99) * 1e-3};
}

}  // namespace attune::verbs
