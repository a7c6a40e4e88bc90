// The buffers of the values of one graph while its plan is built. Memory for a value is made when
// it is first asked for; constants go to the weights, graph outputs to the caller's memory.
#pragma once

#include <map>

#include "compiler/graph/frame.h"
#include "compiler/graph/pieces.h"
#include "compiler/model/plan/plan_memory.h"
#include "compiler/model/plan/weights.h"

namespace attune::model {

class Scope {
 public:
  Scope(const graph::Graph& graph, const graph::Pieces& pieces, PlanMemory& memory,
        Weights& weights)
      : graph_(&graph), pieces_(&pieces), memory_(&memory), weights_(&weights) {}

  void bind(graph::ValueId id, runtime::BufferId buffer) { bound_[id] = buffer; }

  // The value shall be computed in this buffer, unless it is bound or constant.
  void bind_output(graph::ValueId id, runtime::BufferId buffer) {
    if (graph_->value(id).constant == nullptr) bound_.emplace(id, buffer);
  }

  runtime::BufferId buffer(graph::ValueId id) {
    if (const auto known = bound_.find(id); known != bound_.end()) return known->second;
    const graph::Value& value = graph_->value(id);
    const graph::Piece& piece = pieces_->of_value[static_cast<std::size_t>(id)];
    runtime::BufferId made = 0;
    if (value.constant != nullptr) {
      const std::int64_t offset = weights_->add(value.constant->bytes, value.constant->owner);
      made = memory_->constant(offset, value.type.bytes());
    } else if (piece.whole != id) {
      made = memory_->part(buffer(piece.whole), piece.offset, graph::physical_bytes(value));
    } else {
      made = memory_->arena(graph::physical_bytes(value));
    }
    bound_[id] = made;
    return made;
  }

  // Whether one value is the same memory as another.
  bool lie_together(graph::ValueId one, graph::ValueId other) const {
    const auto& pieces = pieces_->of_value;
    const graph::Piece &a = pieces[static_cast<std::size_t>(one)],
                       &b = pieces[static_cast<std::size_t>(other)];
    return a.whole == b.whole && a.offset == b.offset;
  }

  const ops::ConstantPtr& constant(graph::ValueId id) const { return graph_->value(id).constant; }
  const graph::Pieces& pieces() const { return *pieces_; }

 private:
  const graph::Graph* graph_;
  const graph::Pieces* pieces_;
  PlanMemory* memory_;
  Weights* weights_;
  std::map<graph::ValueId, runtime::BufferId> bound_;
};

}  // namespace attune::model
