// Tuning an operator on this machine: a session of measured candidates, driven to its end or until
// the user stops it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/api/fallbacks.h"
#include "app/api/model.h"
#include "base/result.h"
#include "tuner/explore/explorer.h"

namespace attune::session {
struct Options;
struct TaskReport;
struct Usage;
}  // namespace attune::session

namespace attune::api {

// How candidates are measured.
struct MeasuringOptions {
  std::optional<int> batch = {};  // candidates of a round
  double timeout_seconds = 10;    // of the calls of one candidate
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
  bool resume = false;
  std::uint64_t seed = 0;
  explore::SearchOptions search = {};
  MeasuringOptions measuring = {};
};

// Candidates by what became of them, failures only.
using Failures = std::map<std::string, std::int64_t, std::less<>>;

struct TuneProgress {
  std::string task = {};
  std::string stage = {};  // what just finished
  std::int64_t trials = 0, trials_total = 0;
  std::optional<double> best_us;
  double best_gflops = 0;
  double percent_of_peak = 0;
  Failures failures = {};
  double elapsed_seconds = 0;
  std::optional<double> eta_seconds;
  bool limited_by_time = false;  // trials_total is no goal
};

struct TunedTask {
  std::string key = {}, name = {};
  std::int64_t trials = 0, failed = 0;
  Failures failures = {};
  std::int64_t timed = 0;  // candidates that ran and gave right answers, the default among them
  std::optional<double> best_us = {}, default_us = {};
  double gflops = 0, percent_of_peak = 0, seconds = 0;
  bool exhausted = false;
  bool resumed = false;
  bool best_is_default = false;
  std::string default_failure = {};
  std::string trace = {};      // of the best
  std::string algorithm = {};  // of that trace; figures count the operations of the direct one
  std::int64_t uses = 1;       // how often the model runs it

  // Candidates were tried, and none ran but perhaps the default.
  bool all_failed() const { return failed > 0 && timed <= (default_us ? 1 : 0); }
};

struct TuneReport {
  std::vector<TunedTask> tasks = {};
  std::string target = {};
  int threads = 1;
  double peak_gflops = 0;  // of as many cores, measured at the start
  double trials_per_second = 0;
  double device_busy = 0;   // the share of the time in which something ran on the measuring cores
  double search_share = 0;  // the share in which candidates were chosen and results learned
  std::map<std::string, double> stage_seconds = {};  // by stage; some run side by side
  std::optional<double> latency_ms = {}, default_latency_ms = {};  // after and before
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string records = {};
  std::string history = {};      // what other tasks taught, for a person; empty: nothing
  bool stopped = false;          // by the user, before its end
  std::string output = {};       // the artifact that was written; of models only
  bool untuned_is_best = false;  // the default schedules were faster end to end, and were kept
  Fallbacks fallbacks = {};      // tasks of the artifact that did not compile as chosen
  std::optional<double> until_latency_ms = {};  // what was asked for

  bool reached() const {
    return !until_latency_ms || (latency_ms && *latency_ms <= *until_latency_ms);
  }
};

// `progressed` is called after each stage. When `stop` becomes true the stages that run are
// finished and recorded, and the report says so.
Result<TuneReport> tune(const TuneOptions& options,
                        const std::function<void(const TuneProgress&)>& progressed,
                        const std::atomic<bool>& stop);
// The same elsewhere than alone on this machine.
Result<TuneReport> tune(const TuneOptions& options,
                        const std::function<void(const TuneProgress&)>& progressed,
                        const std::atomic<bool>& stop, Workshop& workshop);
std::string to_json(const TuneReport& report);
// One task of a report.
TunedTask tuned_task(const session::TaskReport& report, double peak_gflops);
// Where the time went, over `report.seconds`.
void add_usage(const session::Usage& usage, double device_seconds, TuneReport& report);

}  // namespace attune::api
