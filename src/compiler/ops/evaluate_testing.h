// What the tests of operators share: random tensors, plain and blocked, and the values of a program
// on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ops {

using Values = std::vector<double>;
using Tensors = std::map<std::string, Values>;

// Multiples of 1/16 in [-2, 2], exact in every float type, so that small sums are exact too.
Values random_values(std::size_t count, Rng& rng);
// Whole numbers in [low, high].
Values random_integers(std::size_t count, std::int64_t low, std::int64_t high, Rng& rng);
std::size_t count_of(const std::vector<std::int64_t>& shape);

// The first output of the program; `inputs` by name.
Values evaluate(const ir::Program& program, const Tensors& inputs);

Values pack(const std::vector<std::int64_t>& blocked, std::int64_t channels, const Values& plain);
Values unpack(const std::vector<std::int64_t>& blocked, std::int64_t channels,
              const Values& packed);

double largest(const Values& values);
double largest_difference(const Values& a, const Values& b);

}  // namespace attune::ops
