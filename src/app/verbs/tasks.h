// The tasks of a whole model: what they are, where the time goes, and what is known about each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/runnable_model.h"

namespace attune::verbs {

struct TasksOptions {
  model::SourceOptions source = {};
  bool run = true;  // to measure the shares of the run time
  double seconds = 1.0;
  std::uint64_t seed = 0;  // of the random inputs
};

struct TaskRow {
  std::string key = {};
  std::string name = {};
  std::int64_t uses = 0;  // in one run of the model
  std::string algorithm = {};
  double flops = 0;                         // of one use
  std::string schedule = {};                // "record", "shipped" or "default"
  double bound_us = 0;                      // the least that one use can take on this machine
  std::optional<double> recorded_us = {};   // of the record
  std::optional<double> milliseconds = {};  // of all uses in one run
  std::optional<double> percent = {};       // of the run time

  // The bound as a share of what was measured.
  std::optional<double> percent_of_bound() const {
    if (!milliseconds || *milliseconds <= 0) return std::nullopt;
    return 1e-1 * bound_us * static_cast<double>(uses) / *milliseconds;
  }
};

struct TasksReport {
  std::string model = {};
  std::string target = {};
  int threads = 1;
  std::string precision = {};
  std::vector<TaskRow> tasks = {};           // by share of the time, else in the model's order
  std::optional<double> milliseconds = {};   // of one run, layer by layer
  std::optional<double> other_percent = {};  // of operators that run on the host
};

Result<TasksReport> tasks(const TasksOptions& options);
std::string to_json(const TasksReport& report);

}  // namespace attune::verbs
