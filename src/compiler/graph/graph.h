// The graph of a model: values (typed tensors) and the nodes that compute them, in an order in
// which producers come first. A graph is a value: passes take one and return another. Shapes are
// bound; what a subgraph reads from around it is handed to it as an input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::graph {

using ops::Attributes;
using ops::Constant;
using ops::ConstantPtr;
using ops::TensorType;

using ValueId = int;
inline constexpr ValueId kNoValue = -1;  // an optional input that is left out

// How a value lies in memory. Plain: row-major. Blocked: [n, ceil(c / block), spatial…, block], for
// activations of convolutions; lanes beyond the last channel hold something finite.
struct Layout {
  std::int64_t block = 0;  // 0: plain
  bool is_blocked() const { return block != 0; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct Value {
  std::string name;  // unique within its graph
  TensorType type;
  ConstantPtr constant = nullptr;  // its contents, if it is a constant
  Layout layout = {};
};

struct Graph;

struct Node {
  std::string op;    // an operator of ops::operators()
  std::string name;  // for people
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes = {};
  // Bodies of control flow. Their inputs are what the operator hands them, then `captures`: the
  // last inputs of the node.
  std::vector<std::shared_ptr<const Graph>> bodies = {};
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  // producers before consumers
  std::vector<ValueId> inputs, outputs;

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
};

// What the rules of an operator see of a node.
ops::OpCall call_of(const Graph& graph, const Node& node);
const ops::OpDef& operator_of(const Node& node);

// For each value the index of the node that computes it, -1 for inputs and constants.
std::vector<int> producers(const Graph& graph);
// For each value the indices of the nodes that read it, each once, in order.
std::vector<std::vector<int>> consumers(const Graph& graph);

// Every id is in range, producers come first, each value is computed once, types are as inferred.
Status verify(const Graph& graph);

// One line per node: `%name = op(%a, %b) {key=value} : f32[1,64,56,56]`.
std::string to_string(const Graph& graph);

}  // namespace attune::graph
