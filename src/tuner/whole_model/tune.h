// Tuning a model on this machine: its tasks, each with a session of measured candidates, share one
// budget; it ends by itself or when the user stops it. Of a whole model the best schedules are
// compiled in, and the artifact that is written is the faster of tuned and untuned, measured end to
// end; of an operator there is nothing but its records.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/input_files.h"
#include "compiler/model/load/model.h"
#include "runtime/format/signature.h"
#include "tuner/explore/explorer.h"
#include "tuner/whole_model/report/tune_progress.h"
#include "tuner/whole_model/report/tune_report.h"

namespace attune::whole_model {

// Candidates of a round of one task of many.
inline constexpr int kModelBatch = 16;

// How candidates are measured.
struct MeasuringOptions {
  std::optional<int> batch = {};  // candidates of a round
  double timeout_seconds = 10;    // of the calls of one candidate
  double build_timeout_seconds = 10;
  // Of a promising candidate, about a millisecond each; by default 15, and 5 in a whole model.
  std::optional<int> repeats = {};
};

class TuningResources;

struct TuneOptions {
  model::ModelOptions model = {};
  std::string records = {};  // the store; empty: the default one
  std::string history = {};  // a further store to start from; "none": start from nothing
  // Of each task altogether, and of the whole; without either 128 trials for an operator and 300
  // seconds for a model.
  std::optional<std::int64_t> trials;
  std::optional<double> seconds;
  std::optional<double> until_latency_ms = {};  // enough: stop as soon as it is as fast as this
  bool resume = false;                          // the newest session, or the newest with the seed
  std::optional<std::uint64_t> seed = {};       // by default 0, or that of what is resumed
  explore::SearchOptions search = {};
  MeasuringOptions measuring = {};
  std::string log = {};     // events are appended to this file (tune_log.h); empty: to none
  std::string output = {};  // the artifact of a model; empty: NAME.attune. An operator has none
  runtime::SignBytes sign = {};               // signs the artifact; empty: it is not signed
  std::vector<model::NamedFile> inputs = {};  // of whole models where they are run; else random
};

// Seconds for a whole model without a budget.
inline constexpr double kDefaultSeconds = 300;

// `progressed` is called after each stage. When `stop` becomes true the stages that run are
// finished and recorded, and the report says so.
Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop);
// The same elsewhere than alone on this machine.
Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop, TuningResources& resources);

}  // namespace attune::whole_model
