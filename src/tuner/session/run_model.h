// The driver for all tasks of a model: one budget, given out round by round (allotment.h). A few
// rounds are under way at any time, of different tasks where possible, so that one is selected and
// built while another is measured. A round is given out when the one that lies `window` before it
// has ended, knowing of those up to that one alone: equal times lead to equal decisions, in
// whatever order results arrive.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/session/allotment.h"
#include "tuner/session/driver.h"
#include "tuner/session/session.h"

namespace attune::session {

// A session `on_grant`, with its place in the model.
struct WeightedSession {
  Session* session = nullptr;
  TaskWeight weight = {};
};

// Stop when the model is fast enough: what it takes with what its tasks have so far, less what they
// gain from here on. That is a prediction; whether it holds is for the caller to measure.
struct Goal {
  double before_us = 0;
  double until_us = 0;
  bool* reached = nullptr;  // set when no more rounds are given out for that; may be null
};

struct ModelBudget {
  double seconds = 300;
  double closing_seconds = 0;  // what naming the winner of one task takes
  // Of `seconds`, what must be left in the end, as far as it is known by then; may be null.
  const std::atomic<double>* reserved_seconds = nullptr;
  std::optional<Goal> goal = {};
  int window = 2;  // rounds under way at once
  int batch = 1;   // so many of them are given out together
  // Not null: when it becomes true no more rounds are given out, and what is open is finished.
  const std::atomic<bool>* enough = nullptr;
  AllotmentOptions allotment = {};
};

struct TaskProgress {
  std::string key, name;
  double share = 0;  // of the sum of the best times so far
  std::int64_t trials = 0;
  std::optional<double> best_us, default_us;
  std::optional<double> model_quality;  // see Progress
  bool settled = false;
  std::optional<double> left_seconds;  // until it is settled, if nothing more is gained
};

// After each stage.
struct ModelProgress {
  std::size_t task = 0;  // the one whose stage just ended
  Stage stage = {};
  double stage_seconds = 0;
  std::vector<records::Record> failed = {};  // found by that stage
  std::size_t settled = 0;
  std::vector<TaskProgress> tasks = {};
  std::int64_t trials = 0;
  FailureCounts failures = {};
  double latency_us = 0;  // sum of uses * best, of tasks that ran
  double gained_us = 0;   // sum of uses * (default - best)
  double elapsed_seconds = 0, total_seconds = 0;
  bool closing = false;
};

// All sessions are finished afterwards unless `stop` became true. `usage` may be null. The
// stages of the run are done in between, and all of them before it returns.
Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 Admission& admission, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop, Usage* usage = nullptr,
                 std::vector<RunStage> run_stages = {});
// The same by local admission.
Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 const Machine& machine, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop, Usage* usage = nullptr);

}  // namespace attune::session
