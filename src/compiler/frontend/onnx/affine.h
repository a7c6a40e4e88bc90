// Numbers that a graph computes as another number plus a constant, such as the ends of i : i + 1:
// places that depend on data, sizes that do not.
#pragma once

#include <optional>

#include "compiler/graph/graph.h"

namespace attune::onnx {

// Null: it is an input or a constant.
const graph::Node* producer_of(const graph::Graph& graph, graph::ValueId value);

struct Affine {
  graph::ValueId base = graph::kNoValue;  // absent: the number is the offset
  std::int64_t offset = 0;
};

// Of a value with one element. A minimum with a constant counts as the other operand: ends are
// limited to what a tensor has.
std::optional<Affine> affine_of(const graph::Graph& graph, graph::ValueId value);

// last - first, if that is a constant although the two are not.
std::optional<std::int64_t> constant_distance(const graph::Graph& graph, graph::ValueId first,
                                              graph::ValueId last);

}  // namespace attune::onnx
