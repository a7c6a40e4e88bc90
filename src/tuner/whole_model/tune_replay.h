// Repeating a tuning run from its records: the same choices are made again, with the outcomes of
// then, and nothing is built or run. Shows that decisions follow from seed and times alone, and
// what a change of the search would have chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/whole_model/tune.h"

namespace attune::whole_model {

struct RepeatedTask {
  std::string key = {}, name = {};
  std::int64_t session = 0;              // in the records
  std::vector<std::string> traces = {};  // chosen now, by candidate number
  std::size_t recorded = 0;              // candidates then
  std::optional<std::string> difference = {};
  std::optional<double> best_us = {};
  std::string best_trace = {};
};

struct ReplayReport {
  std::vector<RepeatedTask> tasks = {};
  std::string records = {};
  bool same() const;
};

// `options` are those of the run; its records are in `records`. The newest session of each task
// with the same options is repeated, up to its last finished round.
Result<ReplayReport> replay(const TuneOptions& options, const std::string& records);

std::string to_json(const ReplayReport& report);

}  // namespace attune::whole_model
