// Cones of elementwise nodes that are a function of one value: for a root, the nodes above it that
// only serve it, down to the one value that all of them depend on. Evaluated natively in double
// precision, so that a spelling can be told by what it computes.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/passes/rewriter.h"

namespace attune::graph {

struct Cone {
  ValueId input;
  std::vector<int> nodes;  // consumers first
};

// All cones of a root with two nodes at least, smallest first. Nothing but the cone reads the
// values inside; constants are numbers.
std::vector<Cone> cones_of(const Rewriter& rewriter, int root);

// The value of the cone's root where its input is `x`.
double evaluate_cone(const Rewriter& rewriter, const Cone& cone, double x);

}  // namespace attune::graph
