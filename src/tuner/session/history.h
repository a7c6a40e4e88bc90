// What the records of other tasks teach: their schedules are replayed on the programs that the
// store holds, and described by features that mean the same for every task.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/cost_model/history.h"
#include "tuner/records/store.h"
#include "tuner/session/task.h"

namespace attune::session {

// What of a task a store keeps.
records::TaskDefinition definition_of(const Task& task);

struct HistoryOptions {
  // Of the first store, what was tried of this task on this target is left out: a session knows it
  // by itself.
  std::string except_task = {}, except_target = {};
  std::string target_kind = {};  // whose records teach; empty: any
  // Fills in what a target's text leaves out (caches, vectors); records of targets that it refuses
  // are not used.
  std::function<Result<target::Target>(const target::Target&)> resolve = {};
  std::size_t per_group = 256;  // trials of one task, target and weights
  std::size_t total = 8000;     // with more groups than that allows each gives fewer
  int threads = 1;
};

// Trials by what became of them.
struct HistoryCounts {
  std::size_t used = 0;
  std::size_t undefined = 0;  // of tasks or algorithms that the store does not define
  std::size_t damaged = 0;    // program or trace is not of this version
  std::size_t foreign = 0;    // of targets that are not known here
  std::size_t alone = 0;      // of tasks with too few trials to compare
  // All but `used`, by reason for a person, those that there are.
  std::vector<std::pair<std::string, std::size_t>> left_out() const;
};

struct LoadedHistory {
  std::shared_ptr<const cost_model::History> history;  // may be empty, never null
  HistoryCounts counts;
  std::size_t tasks() const;  // that are learnt from
};

// The same stores with the same options give the same history, whatever the number of threads.
Result<LoadedHistory> load_history(const std::vector<records::Store*>& stores,
                                   const HistoryOptions& options);

// "learning from 3210 trials of 17 tasks; left out: 12 that do not fit this version" for a person;
// empty when there is nothing to say.
std::string describe(const LoadedHistory& loaded);

}  // namespace attune::session
