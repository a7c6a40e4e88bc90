// Recorded trials as a table to replay searches and predictions on: for every task of a store the
// points that were tried, what the analytic model says of them and what was measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/model/history.h"
#include "tuner/model/learner.h"

namespace attune::bench {

struct Table {
  std::string name;  // of the task
  std::string key;
  std::string target;
  std::unique_ptr<space::Space> space;
  std::vector<model::Example> trials;  // each point once, by its number in the space
  std::size_t foreign = 0;             // records whose traces are not in the space

  double best_us() const;
};

// All tasks of the store that are operator specs and have at least `least` trials.
Result<std::vector<Table>> read_tables(const std::string& store, std::size_t least);

// What the other tables teach about the task of this one.
model::History history_without(const std::vector<Table>& tables, const Table& left_out);

}  // namespace attune::bench
