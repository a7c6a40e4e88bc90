// For tests of passes: runs a whole graph by the interpreter, and compares what two graphs compute
// from the same random inputs.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace attune::graph {

// The outputs of a graph without control flow or host operators.
Result<std::vector<ConstantPtr>> interpret_graph(const Graph& graph,
                                                 const std::vector<ConstantPtr>& inputs);

// Numbers between -2 and 2 (integers: 0 to 3), by a seed.
ConstantPtr random_constant(const TensorType& type, unsigned seed);

// Empty if both graphs compute the same from random inputs, to `tolerance` relative to the largest
// element of an output; else what differs. Also checks inputs, outputs and all types.
std::string difference(const Graph& before, const Graph& after, double tolerance = 1e-5);

// The nodes alone, one line each: `%1 = mul(%0, 2)`; inputs and results are numbered in order,
// constants are the number that all elements have, or their type.
std::string sketch(const Graph& graph);

}  // namespace attune::graph
