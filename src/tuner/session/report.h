// What a tuning run says about itself: the numbers behind `tune --json`, its closing table and the
// progress line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/records/record.h"

namespace attune::session {

// Distinct candidates by what became of them, e.g. {"build_failed": 3, "wrong_answer": 1}.
using FailureCounts = std::map<std::string, std::int64_t, std::less<>>;

struct TaskReport {
  std::string key;
  std::string name;
  std::int64_t trials = 0;  // candidates with an outcome from the device, earlier runs with
                            // --resume included
  std::int64_t trials_this_run = 0;  // those of this run alone
  std::int64_t failed = 0;           // of all candidates, those with an outcome other than a timing
  FailureCounts failures;
  std::vector<records::Record> examples;  // of failures, the first of each kind
  std::int64_t timed = 0;                 // of all candidates, those with a timing
  // From the closing comparison; empty when no candidate (not even the default) ran.
  std::optional<double> best_us;
  std::optional<double> default_us;  // empty when the default schedule failed
  double gflops = 0;                 // of best_us
  double seconds = 0;                // of this run; of the task's own stages when it is one of many
  // By reason, schedules that this run looked at and did not find worth building.
  std::map<std::string, std::int64_t> rejected = {};
  bool exhausted = false;  // the space was smaller than the budget
  bool resumed = false;
  std::string best_trace;  // the default's when nothing else ran
  bool best_is_default = false;
  std::string default_failure;  // why the default has no time, else empty
  std::uint64_t seed = 0;       // of the session, which may be an earlier one
  records::SessionId session = 0;
  records::RecordId best_record = 0;  // 0: none
};

// A whole `tune`: of one operator, or of all tasks of a model.
struct TuneReport {
  std::vector<TaskReport> tasks;
  double trials_per_second = 0;
  std::optional<double> latency_ms;          // after
  std::optional<double> default_latency_ms;  // before
  double seconds = 0;
  std::uint64_t seed = 0;  // of the first task's session
};

// The whole of tasks that run one after the other; `uses[i]` is how often task i occurs (all once
// when empty).
TuneReport summarize(std::vector<TaskReport> tasks, const std::vector<std::int64_t>& uses,
                     double seconds);

// What a round brought. Made of records alone, so that equal times lead to equal budgets.
struct RoundSummary {
  std::int64_t round = 0;
  std::int64_t trials = 0;                // of all rounds so far
  std::optional<double> best_us = {};     // of all rounds so far
  std::optional<double> default_us = {};  // empty when it failed, or was not run yet
  double work_seconds = 0;                // of building and running the round's candidates
};

// Where a session stands, for a progress line.
struct Progress {
  std::string key, task;
  std::string stage;  // what just finished: "select", "build", "profile", "update", "confirm"
  std::int64_t round = 0;
  double stage_seconds = 0;             // of what just finished
  std::vector<records::Record> failed;  // no timings, found by that stage
  std::int64_t trials = 0;
  std::int64_t trials_total = 0;
  std::optional<double> best_us;
  std::optional<double> default_us;
  double best_gflops = 0;
  // How many pairs of the last candidates were predicted in the right order, from 0 to 1; about 0.5
  // is guessing. Empty before there are enough.
  std::optional<double> model_quality;
  FailureCounts failures;
  double elapsed_seconds = 0;
  std::optional<double> eta_seconds;  // empty before anything is known
};

class Observer {
 public:
  virtual ~Observer() = default;
  // After each stage, from the thread that drives the session.
  virtual void progressed(const Progress& progress) = 0;
};

}  // namespace attune::session
