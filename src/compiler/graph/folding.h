// Constant folding: the one place that says what of a graph is computed while it is compiled, and
// how. Builder and passes ask it node by node; what is too large for the interpreter is left to
// compiled kernels, where there is somebody who runs them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compiler/graph/graph.h"

namespace attune::graph {

// The results of an operator whose inputs are all constants.
using Evaluate = std::function<Result<std::vector<ConstantPtr>>(const ops::OpCall& call)>;

struct Folding {
  Evaluate run_host = {};    // host operators; none: they stay
  Evaluate run_kernel = {};  // what is more than the interpreter is for; none: it stays
  // The interpreter, and the host, are for results with no more elements than this,
  std::int64_t largest_result = 1 << 16;
  // and for no more steps, of which the interpreter does some ten million a second.
  std::int64_t most_steps = 1 << 20;
  // What their results may yet take in all, in bytes; none: as much as there is. Graphs of one
  // model share it.
  std::shared_ptr<std::int64_t> bytes_left = {};
};

// What the call computes, or nothing where that is not known, or left alone. `types` are those of
// its results.
Result<std::optional<std::vector<ConstantPtr>>> fold(const ops::OpCall& call,
                                                     const std::vector<TensorType>& types,
                                                     const Folding& folding);

// By the interpreter, whatever it costs; host operators by `run_host`.
Result<std::vector<ConstantPtr>> evaluate(const ops::OpCall& call, const Evaluate& run_host);

}  // namespace attune::graph
