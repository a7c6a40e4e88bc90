// Whether compiled models compute what they should: their results against the interpreter's, or
// against the expected outputs of ONNX test cases.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/model/load/prepared_model.h"
#include "runtime/memory/tensor.h"

namespace attune::verbs {

enum class CheckStatus { Pass, Wrong, Unsupported, Error };
// "pass", "wrong", "unsupported", "error".
std::string_view name_of(CheckStatus status);

struct CheckCase {
  std::string name = {};
  CheckStatus status = CheckStatus::Error;
  double max_abs_error = 0;
  double max_rel_error = 0;  // relative to the largest magnitude of the expected result
  // Elements of an ONNX test case that are right only by the rounding of the largest (compare.h).
  std::int64_t by_rounding = 0;
  std::string message = {};
  ops::Precision precision = ops::Precision::F32;  // that it was computed in
};

// Runs a model that is not for this machine, or not for this process, on its inputs.
using RunElsewhere = std::function<Result<std::vector<runtime::Tensor>>(
    const model::CompiledModel& model, const std::vector<runtime::Tensor>& inputs)>;

struct CheckOptions {
  model::SourceOptions source = {};  // with `all`, its model does not count
  bool all = false;  // small operators of every family (small_specs.h) instead of one model
  std::uint64_t seed = 0;
  double timeout_seconds = 60;      // of one ONNX test case
  RunElsewhere run_elsewhere = {};  // of ONNX test cases; none: they run here
};

// A model may also be a folder of ONNX test cases, or one. Calls `done` after each case. Fails only
// when no case could be tried at all.
Status check(const CheckOptions& options, const std::function<Status(const CheckCase&)>& done);
// One line.
std::string to_json(const CheckCase& result);

}  // namespace attune::verbs
