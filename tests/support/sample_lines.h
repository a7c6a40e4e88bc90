// How the lines of tests/conformance/operators.txt are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ops/op_def.h"

namespace attune::test {

struct SampleOperand {
  bool present = true;
  std::string type;  // "T", or the name of an element type
  std::vector<std::int64_t> shape = {};
  bool known = false;
  bool has_range = false;
  double low = 0, high = 0;
  std::vector<double> values = {};  // all elements, or none
};

struct SampleLine {
  std::string op;
  std::vector<SampleOperand> operands;
  ops::Attributes attributes;
  std::vector<ir::DType> types;  // that T stands for; f32 alone without a T
};

// The error names what is not understood.
Result<SampleLine> parse_sample_line(std::string_view text);

}  // namespace attune::test
