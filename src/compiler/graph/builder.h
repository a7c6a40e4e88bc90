// Builds a graph node by node: infers types, and computes right away what depends on constants only
// and is small, so that shapes and axes that a model computes are known when they are needed.
#pragma once

#include <functional>
#include <optional>

#include "compiler/graph/graph.h"

namespace attune::graph {

// Runs a host operator on constants; given by whoever links the runtime.
using RunHost = std::function<Result<std::vector<ConstantPtr>>(const ops::OpCall& call)>;

struct BuilderOptions {
  RunHost run_host = {};
  // Results with more elements than this are not computed while building.
  std::int64_t largest_folded = 1 << 16;
  // Nor those that take the interpreter more steps.
  std::int64_t most_folded_steps = 1 << 26;
};

class Builder {
 public:
  explicit Builder(std::string name, BuilderOptions options = {});

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
  const BuilderOptions& options() const { return options_; }
  // What is built so far; without outputs.
  const Graph& graph() const { return graph_; }

  Graph finish(std::vector<ValueId> outputs) &&;

 private:
  std::string free_name(std::string wanted);
  Result<std::optional<std::vector<ConstantPtr>>> fold(const ops::OpCall& call,
                                                       const std::vector<TensorType>& types) const;

  Graph graph_;
  BuilderOptions options_;
  std::string origin_;
  int extents_ = 0;
  std::map<std::string, int, std::less<>> names_;
};

// The result of an operator on constants, by the interpreter; host operators by `run_host`.
Result<std::vector<ConstantPtr>> evaluate(const ops::OpCall& call, const RunHost& run_host);

}  // namespace attune::graph
