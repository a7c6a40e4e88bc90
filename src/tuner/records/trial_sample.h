// A sample of what was tried, for learning across tasks: small, the same for the same store, and
// read without walking through all records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/records/record.h"

namespace attune::records {

struct Trial {
  std::string trace;
  std::uint64_t trace_hash = 0;
  std::optional<double> time_us;  // empty: the candidate failed by its own fault
};

// Trials whose times compare with each other, each trace once.
struct TrialGroup {
  std::string task_key;
  std::string target;
  Weights weights = Weights::Hot;
  std::vector<Trial> trials;  // by time, failures last
};

struct SampleQuery {
  // What was tried of this task on this target is left out.
  std::string except_task = {}, except_target = {};
  std::string target_kind = {};  // of their targets; empty: any
  std::size_t fastest = 96;      // of each group
  std::size_t spread = 160;      // further ones of each task and target, whatever became of them
};

}  // namespace attune::records
