// How large numbers can be that a model computes from its inputs: sizes of what depends on data are
// planned at their largest. Element by element, from constants, from the largest values that the
// caller states of inputs, and from minima with either.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/graph/graph.h"

namespace attune::onnx {

struct Bound {
  double least = 0, most = 0;

  bool is_exact() const { return least == most; }
  // As a size, which is never negative.
  std::int64_t size() const;
};
using Bounds = std::vector<Bound>;

// The largest values of inputs: one for all elements, or one for each.
using Maxima = std::unordered_map<graph::ValueId, std::vector<std::int64_t>>;

// Nothing if some element can be anything, or there are many.
std::optional<Bounds> bounds_of(const graph::Graph& graph, graph::ValueId value,
                                const Maxima& maxima);

}  // namespace attune::onnx
