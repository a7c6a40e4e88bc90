// Test cases in the form of ONNX's own: a folder with model.onnx and folders test_data_set_N, which
// hold input_K.pb and output_K.pb; or, for the light models, NAME.onnx beside NAME_output_0.pb,
// whose one input counts from 0 to 1.
#pragma once

#include <string>
#include <vector>

#include "app/verbs/check/check.h"
#include "base/result.h"

namespace attune::verbs {

struct OnnxCase {
  std::string name = {};                    // path within what was searched
  std::string model = {};                   // the file
  std::vector<std::string> data_sets = {};  // folders, in order
  std::string light_output = {};            // of a light model, which has no data sets
};

// The cases at and below a path, by name. A folder without any is an error.
Result<std::vector<OnnxCase>> find_onnx_cases(const std::string& path);
// Whether it is a folder, or a model's file with expected outputs beside it; a name of the zoo is
// that model.
bool names_onnx_cases(const std::string& text);

// Compiles the model, runs the artifact in a cage on the inputs of one of the case's data sets (of
// a light model: 0), and compares. What the calling process may do is little from then on.
Result<CheckCase> check_onnx_case(const OnnxCase& test, std::size_t data_set,
                                  const CheckOptions& options);

}  // namespace attune::verbs
