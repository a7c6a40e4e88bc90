// Builds a graph node by node: infers types, and computes right away what depends on constants only
// and is small, so that shapes and axes that a model computes are known when they are needed.
#pragma once

#include "compiler/graph/folding.h"

namespace attune::graph {

class Builder {
 public:
  explicit Builder(std::string name, Folding folding = {});

  ValueId input(std::string name, TensorType type);
  ValueId constant(ConstantPtr constant, std::string name = {});
  // All outputs of a node; the error says what is wrong without naming the node.
  Result<std::vector<ValueId>> add_node(std::string op, std::vector<ValueId> inputs,
                                        Attributes attributes = {},
                                        std::vector<std::shared_ptr<const Graph>> bodies = {},
                                        std::string name = {});
  // The one output of a node.
  Result<ValueId> add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});

  // Nodes added from now on are named after this node of the model.
  void set_origin(std::string name) { origin_ = std::move(name); }
  void rename(ValueId value, std::string name);

  const TensorType& type(ValueId value) const { return graph_.value(value).type; }
  const std::vector<std::int64_t>& shape(ValueId value) const { return type(value).shape; }
  // Null unless the value is known.
  ConstantPtr constant_of(ValueId value) const {
    return value == kNoValue ? nullptr : graph_.value(value).constant;
  }
  // A run-time extent that nothing has yet.
  int new_extent() { return extents_++; }
  const Folding& folding() const { return folding_; }
  // What is built so far; without outputs.
  const Graph& graph() const { return graph_; }

  Graph finish(std::vector<ValueId> outputs) &&;

 private:
  std::string free_name(std::string wanted);

  Graph graph_;
  Folding folding_;
  std::string origin_;
  int extents_ = 0;
  std::map<std::string, int, std::less<>> names_;
};

}  // namespace attune::graph
