// Passes over graphs: what makes a model's graph smaller and plainer before it is cut into tasks.
// One list, in order; each pass is a function from a graph to an equivalent graph, can be left out
// by name, and is timed. Passes run on the bodies of control flow too. Inputs and outputs of the
// graph keep their names, number, order and types.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder.h"
#include "compiler/ops/precision.h"

namespace attune::graph {

struct PassContext {
  Evaluate run_host = {};  // host operators on constants are left alone without it
  bool exact = false;      // no rewrites that add roundings, such as x / c to x * (1 / c)
  ops::Precision precision = ops::Precision::F32;  // that the model is computed in
};

struct Pass {
  std::string_view name;
  std::string_view meaning;
  Result<Graph> (*run)(const Graph&, const PassContext&);
  // The operators, separated by spaces, of which a graph has one if the pass has anything to do;
  // empty: any.
  std::string_view operators = {};
  // Runs once, when the others have nothing more to do.
  bool last = false;
};
// The passes, in order.
std::span<const Pass> passes();

struct PassOptions {
  std::vector<std::string> disabled = {};  // names of passes to leave out
  // Called after every run of a pass over the whole graph, bodies included.
  std::function<void(std::string_view pass, const Graph& graph, double ms)> observe = {};
  PassContext context = {};
};

// Runs the list again and again until nothing changes, a few times at most, and then the passes
// that are last. A pass is left out while the graph is as it was when the pass last ran.
Result<Graph> optimise(Graph graph, const PassOptions& options = {});

}  // namespace attune::graph
