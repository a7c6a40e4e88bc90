// What a tuning run says at its end: the numbers behind `tune --json` and its closing table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/model/fallback.h"
#include "tuner/whole_model/report/tune_progress.h"

namespace attune::records {
struct Record;
}  // namespace attune::records

namespace attune::session {
struct LoadedHistory;
struct TaskReport;
struct Usage;
}  // namespace attune::session

namespace attune::whole_model {

struct TunedTask {
  std::string key = {}, name = {};
  std::int64_t trials = 0, failed = 0;
  Failures failures = {};
  std::int64_t timed = 0;  // candidates that ran and gave right answers, the default among them
  // By reason, schedules that this run looked at and did not find worth building.
  std::map<std::string, std::int64_t> rejected = {};
  std::uint64_t seed = 0;  // of its session
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

// One bar of the histogram of failures, over all tasks.
struct FailureKind {
  std::string kind = {};
  std::int64_t count = 0;
  FailedTrial example = {};
};

// What was learnt from the trials of other tasks, and of the same ones elsewhere.
struct LearntHistory {
  std::size_t trials = 0, tasks = 0;
  std::map<std::string, std::size_t> left_out = {};  // trials by reason
  std::string text = {};                             // for a person; empty: nothing to say
  // Some of what was left out is no matter of course.
  bool incomplete = false;
};

// The schedules of the artifact: the default ones, those that compiling takes without this run, or
// those of this run.
enum class Kept { Default, Known, Tuned };
std::string_view name_of(Kept kept);

struct TuneReport {
  std::vector<TunedTask> tasks = {};
  std::string target = {};
  std::string precision = "f32";
  int threads = 1;
  std::vector<FailureKind> failures = {};  // the most frequent kind first
  double peak_gflops = 0;                  // of as many cores, measured at the start
  double trials_per_second = 0;
  double device_busy = 0;  // the share of the time in which something ran on the measuring cores
  std::string device_condition = {};  // of the device at the end: clocks, temperature, power
  double search_share = 0;  // the share in which candidates were chosen and results learned
  std::map<std::string, double> stage_seconds = {};  // by stage; some run side by side
  // What the command did one after the other, which adds up to `seconds`: stages of the run itself,
  // "rounds" in which the sessions' stages ran, and what is left.
  std::map<std::string, double> wall_seconds = {};
  std::optional<double> latency_ms = {}, default_latency_ms = {};  // after and before
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string records = {};
  LearntHistory history = {};
  bool stopped = false;                         // by the user, before its end
  std::string output = {};                      // the artifact that was written; of models only
  Kept kept = Kept::Tuned;                      // which schedules that has
  bool raced = false;                           // whether there were others than the default ones
  std::optional<double> known_latency_ms = {};  // of that; empty: the default schedules
  // Tasks of the artifact with another schedule than the fastest by itself: inside the model it is.
  std::int64_t changed_inside = 0;
  std::string inside_failure = {};  // why schedules were not compared inside the model
  model::Fallbacks fallbacks = {};  // tasks of the artifact that did not compile as chosen
  std::optional<double> until_latency_ms = {};  // what was asked for
  std::string log_failure = {};                 // why the event log is incomplete; empty: it is not

  bool reached() const {
    return !until_latency_ms || (latency_ms && *latency_ms <= *until_latency_ms);
  }
};

std::string to_json(const TuneReport& report);
// Of a task, as the log and the report name them.
std::vector<FailedTrial> failures_of(const std::vector<records::Record>& failed,
                                     const std::string& key, const std::string& name);
// Adds a task, and its failures.
void add_task(const session::TaskReport& task, std::int64_t uses, TuneReport& report);
LearntHistory learnt_history(const session::LoadedHistory& loaded);
// Where the time went, over `report.seconds`. `run_seconds`: of stages of the run itself outside of
// the rounds, by kind.
void add_usage(const session::Usage& usage, const std::map<std::string, double>& run_seconds,
               double device_seconds, TuneReport& report);

}  // namespace attune::whole_model
