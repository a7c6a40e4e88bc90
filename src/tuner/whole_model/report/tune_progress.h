// How far a tuning run is, of one operator or of all tasks of a model: what a live table and the
// event log show.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune::whole_model {

// Candidates by what became of them, failures only.
using Failures = std::map<std::string, std::int64_t, std::less<>>;

// A candidate that came to no timing, for a person.
struct FailedTrial {
  std::string task_key = {}, task = {};
  std::int64_t candidate = 0;  // its number
  std::string kind = {}, reason = {}, trace = {};
};

struct TaskProgress {
  std::string key = {}, name = {};
  double share = 0;  // of the time of all tasks
  std::int64_t trials = 0;
  std::optional<double> best_us = {}, default_us = {};
  double best_gflops = 0, percent_of_peak = 0;  // 0: unknown
  // The share of pairs of late candidates that the cost model had put in the right order.
  std::optional<double> model_quality = {};
  bool settled = false;                     // nothing more is expected of it
  std::optional<double> left_seconds = {};  // until then, at least
};

// After each stage.
struct TuneProgress {
  std::size_t task = 0;    // the one whose stage ended, of `tasks`; without meaning for the whole
  bool of_whole = false;   // a stage of the whole model: "layouts", "compile", "race" …
  bool begins = false;     // such a stage begins, instead of having ended
  std::string stage = {};  // "select", "build", "profile", "update", "confirm", …
  std::int64_t round = 0;  // -1: of the closing comparison
  double stage_seconds = 0;
  std::vector<FailedTrial> failed = {};  // found by that stage
  std::vector<TaskProgress> tasks = {};
  std::int64_t trials = 0;
  std::optional<std::int64_t> trials_total = {};  // empty: time is the only limit
  double latency_ms = 0;                          // sum of the best of all tasks so far
  Failures failures = {};                         // of all tasks
  double elapsed_seconds = 0;
  std::optional<double> left_seconds = {};  // of the whole run
  bool closing = false;                     // no more candidates are chosen

  std::size_t settled() const;
};

using Progressed = std::function<void(const TuneProgress&)>;

}  // namespace attune::whole_model
