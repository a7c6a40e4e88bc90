// Elementwise operators on single numbers, natively in double precision: what passes need that try
// out what nodes compute, for whom the interpreter is too slow. A test compares each with the
// meaning of its operator.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::graph {

struct ScalarFunction {
  std::string_view op;
  // On the values of its operands (NaN: left out).
  double (*value)(const ops::Attributes& attributes, const std::vector<double>& operands);
  // Spellings of activations may be made of it; otherwise it is an activation already.
  bool is_part = false;
};

std::span<const ScalarFunction> scalar_functions();
// Null for operators that have none.
const ScalarFunction* find_scalar_function(std::string_view op);

}  // namespace attune::graph
