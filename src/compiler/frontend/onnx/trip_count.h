// How often a loop runs, where that follows from constants: counters and limits that the loop
// carries are computed iteration by iteration, the rest of the body is left out.
#pragma once

#include <optional>

#include "compiler/graph/graph.h"

namespace attune::onnx {

// `body`: inputs [iteration, carried…, …], outputs [condition, carried…, …]; `initial` are the
// carried values before the first iteration, null where they are not known. Nothing if the
// condition depends on data, or still holds after `most` iterations.
std::optional<std::int64_t> trip_count(const graph::Graph& body,
                                       const std::vector<ops::ConstantPtr>& initial,
                                       std::int64_t most);

}  // namespace attune::onnx
