// Tuning a whole model: its tasks share one budget, the best schedules are compiled in, and the
// artifact that is written is the faster of tuned and untuned, measured end to end.
#pragma once

#include <atomic>
#include <functional>

#include "app/api/graph_model.h"
#include "app/api/tune.h"

namespace attune::api {

struct TuneGraphOptions {
  GraphOptions graph = {};
  TuneOptions tune = {};    // model and explorer as for operators; 300 seconds without a budget
  std::string output = {};  // the artifact
};

struct TuneGraphProgress {
  std::string task = {};  // the one that just ran; empty while compiling
  std::string stage = {};
  std::size_t tasks = 0, settled = 0;
  std::int64_t trials = 0;
  double latency_ms = 0;  // sum of the best of all tasks so far
  double elapsed_seconds = 0, total_seconds = 0;
};

Result<TuneReport> tune_graph(const TuneGraphOptions& options,
                              const std::function<void(const TuneGraphProgress&)>& progressed,
                              const std::atomic<bool>& stop);
// The same elsewhere than alone on this machine.
Result<TuneReport> tune_graph(const TuneGraphOptions& options,
                              const std::function<void(const TuneGraphProgress&)>& progressed,
                              const std::atomic<bool>& stop, Workshop& workshop);

}  // namespace attune::api
