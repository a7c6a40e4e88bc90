// Timing calls one after the other, and what is said of many times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace attune::verbs {

struct Latency {
  double min_ms = 0, median_ms = 0, p90_ms = 0, p99_ms = 0;
};

struct SamplingOptions {
  std::int64_t repeats = 0;  // samples; 0: as many as fit into `seconds`
  double seconds = 1.0;
};

struct Samples {
  std::vector<double> call_us;  // each the mean of some calls, so few that the clock does not count
  std::int64_t calls = 0;
};

// Warms up, then takes samples. Calls are timed by `clock`, that of what runs them.
Result<Samples> sample(const std::function<Status()>& call, const Clock& clock,
                       const SamplingOptions& options);

// The same of calls that say themselves how long they took, each of which is a sample.
Result<Samples> sample_times(const std::function<Result<double>()>& call_us,
                             const SamplingOptions& options);

// There must be one at least.
Latency summarize(std::vector<double> call_us);

}  // namespace attune::verbs
