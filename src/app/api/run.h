// Running an operator once, on inputs that the user gives or on random ones. Tensors are seen here
// as people know them: activations that the operator takes in blocks appear as [n, c, h, w].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "base/result.h"

namespace attune::api {

struct NamedFile {
  std::string name = {};  // of the input
  std::string path = {};  // a .npy file
};

struct RunOptions {
  ModelOptions model = {};
  ScheduleOptions schedule = {};
  std::vector<NamedFile> inputs = {};  // those not named are random
  std::string output = {};             // a directory for one .npy file per output; empty: none
  int top = 0;                         // so many of the largest elements of each output
  std::uint64_t seed = 0;
};

struct TopElement {
  std::vector<std::int64_t> index = {};
  double value = 0;
};

struct TensorSummary {
  std::string name = {};
  std::string type = {};
  std::vector<std::int64_t> shape = {};
  bool random = false;  // an input that was not given
  double least = 0, most = 0, mean = 0;
  std::vector<TopElement> top = {};
  std::string path = {};  // of the file it was read from or written to
};

struct RunReport {
  std::string model = {};
  std::string schedule_text = {};
  std::vector<TensorSummary> inputs = {}, outputs = {};
  double milliseconds = 0;  // of the one call
};

Result<RunReport> run(const RunOptions& options);
std::string to_json(const RunReport& report);

// "NAME=FILE" as the user writes it; names may hold '='.
Result<NamedFile> parse_named_file(const std::string& text);

}  // namespace attune::api
