// Running a model once, on inputs that the user gives or on random ones. Tensors are seen here as
// people know them: activations that an operator takes in blocks appear as [n, c, h, w].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/fallback.h"
#include "compiler/model/load/input_files.h"
#include "tensor_files/tensor_summary.h"

namespace attune::verbs {

struct RunOptions {
  model::SourceOptions source = {};
  model::InputFiles files = {};
  std::string output = {};  // a directory for one .npy file per output; empty: none
  int top = 0;              // so many of the largest elements of each output
  std::uint64_t seed = 0;
  double timeout_seconds = 3600;  // of the run
};

struct RunReport {
  std::string model = {};
  std::string precision = {};
  std::string schedule_text = {};
  model::Fallbacks fallbacks = {};  // of compiling
  std::vector<tensor_files::TensorSummary> inputs = {}, outputs = {};
  double milliseconds = 0;  // of the one call
};

Result<RunReport> run(const RunOptions& options);
std::string to_json(const RunReport& report);

}  // namespace attune::verbs
