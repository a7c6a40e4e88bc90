// Recorded trials as a table to replay searches and predictions on: for every task of a store the
// points that were tried, what the analytic model says of them and what was measured.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tuner/cost_model/history.h"
#include "tuner/cost_model/learner.h"

namespace attune::bench {

// Times of a task's schedules by the hash of their traces; none of those that failed.
struct Recorded {
  std::string key, target;
  std::unordered_map<std::uint64_t, std::optional<double>> times;
  // Of the same hashes, where they are known: spaces too large to go through need them.
  std::unordered_map<std::uint64_t, schedule::Trace> traces = {};
};

struct Table {
  std::string name;  // of the task
  std::string key;
  std::string target;
  std::unique_ptr<space::Space> space;
  std::vector<space::Candidate> trials;  // each point once, by its number in the space
  std::size_t foreign = 0;               // records whose traces are not in the space

  double best_us() const;
};

// Of the operator spec `name`.
Result<Table> table_of(const std::string& name, const Recorded& recorded);

// All tasks of the store that are operator specs and have at least `least` trials.
Result<std::vector<Table>> read_tables(const std::string& store, std::size_t least);

// What the tables of other tasks than this one teach.
cost_model::History history_without(const std::vector<Table>& tables, const std::string& key,
                                    features::Kind kind = features::Kind::Relation);

}  // namespace attune::bench
