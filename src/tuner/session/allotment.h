// How one budget is given out over the tasks of a model: the next round goes to the task from which
// the model's latency is expected to gain most in a second. A function of what rounds brought, in
// the order in which they were given out, and of nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/session/report.h"

namespace attune::session {

struct AllotmentOptions {
  // A task that gained less than `least_gain` in each of so many rounds is settled: it gets more
  // only when all others are settled too, twice as many each time, and four times as many at most.
  int patience = 4;
  double least_gain = 0.005;  // of the task's time
};

struct TaskWeight {
  double uses = 1;   // how often the model runs it
  double prior = 1;  // its share before anything was measured, in any unit
};

class Allotment {
 public:
  Allotment(const std::vector<TaskWeight>& weights, const AllotmentOptions& options);

  // The task for the next round: first each once, the largest first, then by what they promise;
  // none when nothing more is expected of any.
  std::optional<std::size_t> next() const;
  void grant(std::size_t task);
  // A granted round has come to its end, in the order of grants; without a summary the session had
  // no more candidates. `more`: it has some now.
  void finish(std::size_t task, const std::optional<RoundSummary>& summary, bool more);

  bool settled(std::size_t task) const;
  std::size_t settled_count() const;
  // How long its rounds would take until it is settled, if none of them gained; 0 when it is, empty
  // before the first round is back.
  std::optional<double> seconds_to_settle(std::size_t task) const;
  // Sums over all uses of the tasks that ran: of their best times, and of what those are below the
  // defaults'.
  double latency_us() const;
  double gained_us() const;

 private:
  struct Standing {
    TaskWeight weight;
    int granted = 0;
    int finished = 0;
    int rounds_without_gain = 0;
    double gain = 0;           // relative, of late
    double round_seconds = 0;  // of late
    double best_us = 0;        // 0: none yet
    double default_us = 0;     // 0: none
    bool ended = false;        // no candidates are left, or all failed
  };
  double promise(const Standing& standing) const;

  AllotmentOptions options_;
  std::vector<Standing> standings_;
};

}  // namespace attune::session
