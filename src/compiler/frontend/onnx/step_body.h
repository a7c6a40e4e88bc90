// Bodies of loops that converters build themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/node_context.h"
#include "compiler/frontend/onnx/recurrent_cell.h"

namespace attune::onnx {

// The graph of one step. Values of the graph around are its inputs, constants its own.
class StepBody {
 public:
  StepBody(NodeContext& node, std::string name)
      : node_(node), builder_(std::move(name), node.builder().folding()), chain_(builder_) {}

  ValueId input(std::string name, TensorType type) {
    return builder_.input(std::move(name), std::move(type));
  }
  ValueId capture(ValueId outer) {
    if (outer == kNoValue) return kNoValue;
    if (const ConstantPtr constant = node_.builder().constant_of(outer)) {
      return builder_.constant(constant, "weight");
    }
    captures_.push_back(outer);
    return builder_.input("captured", node_.type(outer));
  }
  Chain& chain() { return chain_; }
  const std::vector<ValueId>& captures() const { return captures_; }
  std::shared_ptr<const graph::Graph> finish(std::vector<ValueId> outputs) {
    return std::make_shared<const graph::Graph>(std::move(builder_).finish(std::move(outputs)));
  }

 private:
  NodeContext& node_;
  graph::Builder builder_;
  Chain chain_;
  std::vector<ValueId> captures_;
};

}  // namespace attune::onnx
