// The sentinel: two fixed loops, one of arithmetic and one that streams through memory, timed
// before and after a batch. They do the same work every time, so a change of their times is a
// change of the machine.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/memory/memory.h"
#include "tuner/measure/probe/candidate.h"
#include "tuner/measure/probe/speed/fma_loop.h"

namespace attune::probe {

class Sentinel {
 public:
  Sentinel();
  // The fastest of a few passes on all workers of the pool, under a millisecond each.
  Result<SentinelReading> read(const Clock& clock, runtime::ThreadPool& pool);

 private:
  FmaLoop loop_;
  runtime::Memory memory_;  // one region per worker
};

// The larger relative change of the two times.
double drift_between(const SentinelReading& before, const SentinelReading& after);

// How much drift is this machine's own noise: learnt from the batches so far.
class DriftLimit {
 public:
  // At least 3 %; twice the median of the recent drifts where that is more.
  double limit() const;
  void learn(double drift);

 private:
  std::vector<double> recent_;
};

}  // namespace attune::probe
