// Rates of the fastest of many short passes: whatever disturbs a pass only slows it down.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "runtime/execution/thread_pool.h"
#include "tuner/measure/probe/speed/fma_loop.h"

namespace attune::probe {

// Work per second.
template <typename Pass>
double best_rate(double seconds, double work_per_pass, const Pass& pass) {
  const SteadyClock clock;
  pass();
  double best = 0.0;
  const std::int64_t start = clock.now_ns();
  for (std::int64_t now = start; seconds_between(start, now) < seconds;) {
    pass();
    const std::int64_t end = clock.now_ns();
    best = std::max(best, work_per_pass / seconds_between(now, end));
    now = end;
  }
  return best;
}

// Operations per second of the loop on all workers of the pool, `rounds` of it in a pass.
double fma_rate(runtime::ThreadPool& pool, const FmaLoop& loop, std::int64_t rounds,
                double seconds);

}  // namespace attune::probe
