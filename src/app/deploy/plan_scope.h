// The buffers of the values of one graph while its plan is built. Memory for a value is made when
// it is first asked for; constants go to the weights, graph outputs to the caller's memory.
#pragma once

#include <map>

#include "app/deploy/plan_memory.h"
#include "app/deploy/weights.h"
#include "compiler/graph/frame.h"

namespace attune::deploy {

class Scope {
 public:
  Scope(const graph::Graph& graph, PlanMemory& memory, Weights& weights)
      : graph_(&graph), memory_(&memory), weights_(&weights) {}

  void bind(graph::ValueId id, runtime::BufferId buffer) { bound_[id] = buffer; }

  // The value shall be computed in this buffer, unless it is bound or constant; the view that it
  // may be of another value counts as that.
  void bind_output(graph::ValueId id, runtime::BufferId buffer) {
    id = root_of(id);
    if (graph_->value(id).constant != nullptr) return;
    bound_.emplace(id, buffer);
  }

  runtime::BufferId buffer(graph::ValueId id) {
    if (const auto known = bound_.find(id); known != bound_.end()) return known->second;
    const graph::Value& value = graph_->value(id);
    runtime::BufferId made = 0;
    if (value.constant != nullptr) {
      const std::int64_t offset = weights_->add(value.constant->bytes, value.constant->owner);
      made = memory_->constant(offset, value.type.bytes());
    } else {
      made = memory_->arena(graph::physical_bytes(value));
    }
    bound_[id] = made;
    return made;
  }

  const ops::ConstantPtr& constant(graph::ValueId id) const { return graph_->value(id).constant; }

 private:
  graph::ValueId root_of(graph::ValueId id) {
    if (producers_.empty()) producers_ = graph::producers(*graph_);
    for (int node = producers_[static_cast<std::size_t>(id)]; node >= 0;
         node = producers_[static_cast<std::size_t>(id)]) {
      const graph::Node& maker = graph_->nodes[static_cast<std::size_t>(node)];
      if (graph::operator_of(maker).kind != ops::OpKind::View) break;
      id = maker.inputs[0];
    }
    return id;
  }

  const graph::Graph* graph_;
  PlanMemory* memory_;
  Weights* weights_;
  std::map<graph::ValueId, runtime::BufferId> bound_;
  std::vector<int> producers_;
};

}  // namespace attune::deploy
