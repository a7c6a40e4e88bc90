// The driver for all tasks of a model: one budget, given out round by round to the task from which
// the model's latency is expected to gain most. Sessions run one stage at a time, each with all
// that the machine has.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/session/session.h"

namespace attune::session {

struct WeightedSession {
  Session* session = nullptr;
  double uses = 1;  // how often the model runs the task
};

struct ModelBudget {
  double seconds = 300;
  std::int64_t trials = 0;  // of each task at most; 0: no limit
  // Rounds without a gain after which a task is left alone.
  int patience = 4;
  double least_gain = 0.005;  // of the task's time, in one round
};

struct ModelProgress {
  std::size_t task = 0;  // the one that just ran
  std::size_t tasks = 0, settled = 0;
  std::int64_t trials = 0;
  double latency_us = 0;  // sum of uses * best
  double elapsed_seconds = 0, total_seconds = 0;
  bool closing = false;
};

// All sessions are finished afterwards unless `stop` became true. `closing_seconds` is what naming
// the winner of one task takes.
Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 double closing_seconds, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop);

}  // namespace attune::session
