// Timing one kernel: repeats of many calls, the fastest counts. The number of calls per repeat
// follows from how long a call takes; a candidate that is far behind the best known stops early.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "tuner/measure/probe/candidate.h"
#include "tuner/outcome/outcome.h"

namespace attune::probe {

// Runs the kernel so many times in a row.
using Calls = std::function<void(std::int64_t)>;

// Calls of a repeat, such that it takes about `repeat_us`.
std::int64_t calls_per_repeat(double call_us, double repeat_us);

// Microseconds per call of one repeat.
double time_repeat(const Clock& clock, const Calls& calls, std::int64_t count);

// Best, median and variation of repeats; not empty.
outcome::Timing summarize(std::vector<double> repeats_us, std::int64_t calls);

// Whether a call that took so long is the only one: it is far behind the best known, or repeats
// might run into the timeout.
bool is_told_by_one_call(double call_us, double best_known_us, const MeasureOptions& options);

// `first_call_us` is what a call before (with cold caches) took.
outcome::Timing time_kernel(const Clock& clock, const Calls& calls, double first_call_us,
                            double best_known_us, const MeasureOptions& options);

}  // namespace attune::probe
