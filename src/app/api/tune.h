// Tuning an operator on this machine: a session of measured candidates, driven to its end or until
// the user stops it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "app/api/model.h"
#include "app/api/tune_progress.h"
#include "app/api/tune_report.h"
#include "base/result.h"
#include "tuner/explore/explorer.h"

namespace attune::api {

// How candidates are measured.
struct MeasuringOptions {
  std::optional<int> batch = {};  // candidates of a round
  double timeout_seconds = 10;    // of the calls of one candidate
  double build_timeout_seconds = 10;
  // Of a promising candidate, about a millisecond each; by default 15, and 5 in a whole model.
  std::optional<int> repeats = {};
};

class Workshop;

struct TuneOptions {
  ModelOptions model = {};
  std::string records = {};            // the store; empty: the default one
  std::string history = {};            // a further store to start from; "none": start from nothing
  std::optional<std::int64_t> trials;  // of the task altogether; by default 128 without `seconds`
  std::optional<double> seconds;
  std::optional<double> until_latency_ms = {};  // enough: stop as soon as it is as fast as this
  bool resume = false;                          // the newest session, or the newest with the seed
  std::optional<std::uint64_t> seed = {};       // by default 0, or that of what is resumed
  explore::SearchOptions search = {};
  MeasuringOptions measuring = {};
  std::string log = {};  // events are appended to this file (tune_log.h); empty: to none
};

// `progressed` is called after each stage. When `stop` becomes true the stages that run are
// finished and recorded, and the report says so.
Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop);
// The same elsewhere than alone on this machine.
Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop, Workshop& workshop);

}  // namespace attune::api
