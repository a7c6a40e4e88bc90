// Running a model once, on inputs that the user gives or on random ones. Tensors are seen here as
// people know them: activations that an operator takes in blocks appear as [n, c, h, w].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/api/fallbacks.h"
#include "app/api/image.h"
#include "app/api/prepared_model.h"
#include "app/api/tensor_summary.h"
#include "base/result.h"

namespace attune::api {

struct NamedFile {
  std::string name = {};  // of the input
  std::string path = {};  // a .npy file, a .npz file, or a picture
};

struct RunOptions {
  SourceOptions source = {};
  std::vector<NamedFile> inputs = {};  // those not named are random; without a name: all of a .npz
  std::vector<NamedFile> images = {};  // not of operators
  ImageOptions image = {};
  std::string output = {};  // a directory for one .npy file per output; empty: none
  int top = 0;              // so many of the largest elements of each output
  std::uint64_t seed = 0;
};

struct RunReport {
  std::string model = {};
  std::string schedule_text = {};
  Fallbacks fallbacks = {};  // of compiling
  std::vector<TensorSummary> inputs = {}, outputs = {};
  double milliseconds = 0;  // of the one call
};

Result<RunReport> run(const RunOptions& options);
std::string to_json(const RunReport& report);

// "NAME=FILE" as the user writes it; names may hold '='. A .npz file needs no name.
Result<NamedFile> parse_named_file(const std::string& text);

}  // namespace attune::api
