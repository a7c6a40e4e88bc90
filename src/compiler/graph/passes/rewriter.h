// Rewrites a graph in place: knows who computes and who reads each value while nodes are added and
// values are replaced. What nothing reads any more is erased at once; finish() puts the nodes into
// an order in which producers come first and drops unused values.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace attune::graph {

class Rewriter {
 public:
  explicit Rewriter(const Graph& graph);

  // Nodes have numbers that stay; nodes that are added come last, erased ones are not alive.
  // References to nodes and values stay good while nodes are added.
  int node_count() const { return static_cast<int>(nodes_.size()); }
  bool alive(int node) const { return alive_[static_cast<std::size_t>(node)]; }
  const Node& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

  const Value& value(ValueId id) const { return values_[index(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  const std::vector<std::int64_t>& shape(ValueId id) const { return type(id).shape; }
  // Null unless the value is a constant; also for inputs that are left out.
  ConstantPtr constant_of(ValueId id) const {
    return id == kNoValue ? nullptr : value(id).constant;
  }
  // The number of the node that computes a value, -1 for inputs and constants.
  int producer(ValueId id) const { return id == kNoValue ? -1 : producer_[index(id)]; }
  // What the rules of an operator see of a node.
  ops::OpCall call(const Node& node) const;
  // The node that computes a value, null for inputs and constants.
  const Node* maker(ValueId id) const;
  // The nodes that read a value, each once.
  const std::vector<int>& users(ValueId id) const { return users_[index(id)]; }
  bool is_output(ValueId id) const { return output_uses_[index(id)] > 0; }
  // Exactly one node reads the value, and it is no output of the graph.
  bool has_one_use(ValueId id) const { return users(id).size() == 1 && !is_output(id); }

  ValueId add_constant(ConstantPtr constant, std::string_view name);
  // The output of a new node with one output; a constant where all inputs are small constants.
  // `name` is what the node and its value are named after.
  ValueId add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
              std::string_view name);
  // The outputs of a copy of a node of another graph, which reads `inputs` here.
  std::vector<ValueId> add_copy(const Graph& graph, const Node& node, std::vector<ValueId> inputs);
  // The value under another name, for outputs of the graph.
  ValueId add_identity(ValueId id);
  // All readers of `from` read `to` instead, which has the same type. Says whether anything
  // changed: an output of the graph stays where `to` cannot take its name.
  bool replace(ValueId from, ValueId to);
  // The value is known from now on; the node that computed it is erased if nothing needs it.
  void make_constant(ValueId id, ConstantPtr constant);
  // Changes the inputs and attributes of a node, whose outputs keep their types.
  void update(int node, std::vector<ValueId> inputs, Attributes attributes);
  void set_bodies(int node, std::vector<std::shared_ptr<const Graph>> bodies);

  Graph finish() &&;

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
  ValueId new_value(std::string_view name, TensorType type, ConstantPtr constant);
  std::string free_name(std::string_view wanted);
  void push_node(Node node);
  void add_user(ValueId id, int node);
  void remove_user(ValueId id, int node);
  void erase_if_unused(int node);
  std::vector<int> node_order() const;

  std::string name_;
  std::deque<Value> values_;
  std::deque<Node> nodes_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<bool> alive_;
  std::vector<int> producer_;
  std::vector<std::vector<int>> users_;
  std::vector<int> output_uses_;
  std::set<std::string, std::less<>> names_;  // filled when the first name is needed
};

// Calls `rule` for every node in order, nodes that it adds included, until a sweep over all nodes
// changes nothing, a few times at most. A rule returns whether it changed the graph.
void rewrite_nodes(Rewriter& rewriter, const std::function<bool(int node)>& rule);

}  // namespace attune::graph
