#include "tuner/measure/probe/timing_loop.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace attune::probe {
namespace {

// A first call suffers from cold caches and page faults; when even that cannot explain how slow it
// was, it stands for the candidate.
bool is_hopeless(double first_call_us, double best_known_us, const MeasureOptions& options) {
  constexpr double kColdUs = 3'000.0;
  return best_known_us > 0.0 && first_call_us >= options.cut_ratio * best_known_us + kColdUs;
}

// Repeats that might run into the timeout are not begun: slow is not the same as hung.
double safe_us(const MeasureOptions& options) { return 0.5e3 * options.timeout_ms; }

}  // namespace

std::int64_t calls_per_repeat(double call_us, double repeat_us) {
  constexpr double kMostCalls = 1e6;
  const double calls = std::ceil(repeat_us / std::max(call_us, 1e-3));
  return static_cast<std::int64_t>(std::clamp(calls, 1.0, kMostCalls));
}

double time_repeat(const Clock& clock, const Calls& calls, std::int64_t count) {
  const std::int64_t start = clock.now_ns();
  calls(count);
  return static_cast<double>(clock.now_ns() - start) * 1e-3 / static_cast<double>(count);
}

outcome::Timing summarize(std::vector<double> repeats_us, std::int64_t calls) {
  CHECK(!repeats_us.empty(), "a timing needs at least one repeat");
  std::sort(repeats_us.begin(), repeats_us.end());
  const std::size_t n = repeats_us.size();
  const double mean =
      std::accumulate(repeats_us.begin(), repeats_us.end(), 0.0) / static_cast<double>(n);
  double squares = 0.0;
  for (double value : repeats_us) squares += (value - mean) * (value - mean);
  outcome::Timing timing;
  timing.best_us = repeats_us.front();
  timing.median_us = 0.5 * (repeats_us[(n - 1) / 2] + repeats_us[n / 2]);
  timing.cv = mean > 0.0 ? std::sqrt(squares / static_cast<double>(n)) / mean : 0.0;
  timing.repeats = static_cast<int>(n);
  timing.calls_per_repeat = calls;
  return timing;
}

bool is_told_by_one_call(double call_us, double best_known_us, const MeasureOptions& options) {
  return is_hopeless(call_us, best_known_us, options) || call_us > safe_us(options);
}

outcome::Timing time_kernel(const Clock& clock, const Calls& calls, double first_call_us,
                            double best_known_us, const MeasureOptions& options) {
  if (is_told_by_one_call(first_call_us, best_known_us, options)) {
    outcome::Timing timing = summarize({first_call_us}, 1);
    timing.cut_short = is_hopeless(first_call_us, best_known_us, options);
    return timing;
  }
  std::int64_t count = calls_per_repeat(first_call_us, options.repeat_us);
  double call_us = first_call_us;
  // The first call may have been much slower than those to come: grow until a repeat is long
  // enough.
  double spent_us = 0.0;
  for (;;) {
    call_us = time_repeat(clock, calls, count);
    spent_us += call_us * static_cast<double>(count);
    const std::int64_t better = calls_per_repeat(call_us, options.repeat_us);
    if (better <= 2 * count) break;
    count = better;
  }
  std::vector<double> repeats = {call_us};
  const bool cut = best_known_us > 0.0 && call_us >= options.cut_ratio * best_known_us;
  while (!cut && static_cast<int>(repeats.size()) < options.max_repeats &&
         spent_us + call_us * static_cast<double>(count) < safe_us(options) &&
         (static_cast<int>(repeats.size()) < options.min_repeats || spent_us < options.budget_us)) {
    repeats.push_back(time_repeat(clock, calls, count));
    spent_us += repeats.back() * static_cast<double>(count);
  }
  outcome::Timing timing = summarize(std::move(repeats), count);
  timing.cut_short = cut;
  return timing;
}

}  // namespace attune::probe
