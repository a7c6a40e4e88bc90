// Running an operator or a whole model once, on inputs that the user gives or on random ones.
// Tensors are seen here as people know them: activations that an operator takes in blocks appear as
// [n, c, h, w].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/api/fallbacks.h"
#include "app/api/graph_model.h"
#include "app/api/image.h"
#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "app/api/tensor_summary.h"
#include "base/result.h"

namespace attune::api {

struct NamedFile {
  std::string name = {};  // of the input
  std::string path = {};  // a .npy file, a .npz file, or a picture
};

struct RunOptions {
  ModelOptions model = {};
  ScheduleOptions schedule = {};
  Shapes shapes = {};                  // of a whole model's inputs
  Constants constants = {};            // inputs that are fixed while compiling
  std::vector<NamedFile> inputs = {};  // those not named are random; without a name: all of a .npz
  std::vector<NamedFile> images = {};  // of whole models
  ImageOptions image = {};
  std::string output = {};  // a directory for one .npy file per output; empty: none
  int top = 0;              // so many of the largest elements of each output
  std::uint64_t seed = 0;
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // of compiling a model
};

struct RunReport {
  std::string model = {};
  std::string schedule_text = {};
  Fallbacks fallbacks = {};  // of compiling a model
  std::vector<TensorSummary> inputs = {}, outputs = {};
  double milliseconds = 0;  // of the one call
};

Result<RunReport> run(const RunOptions& options);
std::string to_json(const RunReport& report);

// "NAME=FILE" as the user writes it; names may hold '='. A .npz file needs no name.
Result<NamedFile> parse_named_file(const std::string& text);

}  // namespace attune::api
