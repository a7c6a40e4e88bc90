// Tuning a whole model: its tasks share one budget, the best schedules are compiled in, and the
// artifact that is written is the faster of tuned and untuned, measured end to end.
#pragma once

#include <atomic>

#include "app/api/graph_model.h"
#include "app/api/tune.h"

namespace attune::api {

struct TuneGraphOptions {
  GraphOptions graph = {};
  TuneOptions tune = {};    // model and explorer as for operators; 300 seconds without a budget
  std::string output = {};  // the artifact
};

Result<TuneReport> tune_graph(const TuneGraphOptions& options, const Progressed& progressed,
                              const std::atomic<bool>& stop);
// The same elsewhere than alone on this machine.
Result<TuneReport> tune_graph(const TuneGraphOptions& options, const Progressed& progressed,
                              const std::atomic<bool>& stop, Workshop& workshop);

}  // namespace attune::api
