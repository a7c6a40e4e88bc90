// Arithmetic on constants of any size in plain loops: weights are too large for the interpreter.
// All of it computes in double precision and rounds once.
#pragma once

#include <functional>

#include "compiler/graph/graph.h"

namespace attune::graph {

// All elements as doubles, row-major.
std::vector<double> reals(const Constant& constant);
// A constant of a float type from its elements.
ConstantPtr real_constant(const TensorType& type, const std::vector<double>& values);
// `change` of each element.
ConstantPtr map_constant(const Constant& constant, const std::function<double(double)>& change);
// The dimensions in another order: dimension i of the result is dimension perm[i].
ConstantPtr transpose_constant(const Constant& constant, const std::vector<std::int64_t>& perm);
// The same elements under another shape; nothing is copied.
ConstantPtr reshape_constant(const ConstantPtr& constant, std::vector<std::int64_t> shape);
// Constants that differ in the extent of `axis` only, one behind the other.
ConstantPtr concat_constants(const std::vector<ConstantPtr>& parts, std::size_t axis);
bool same_contents(const Constant& a, const Constant& b);

}  // namespace attune::graph
