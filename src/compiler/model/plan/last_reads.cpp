#include "compiler/model/plan/last_reads.h"

#include <algorithm>

#include "compiler/graph/frame.h"

namespace attune::model {

using graph::kNoValue;
using graph::ValueId;

LastReads::LastReads(const GraphTasks& tasks)
    : tasks_(tasks),
      outside_(tasks.graph->values.size(), false),
      last_(tasks.graph->values.size(), 0) {
  const graph::Graph& graph = *tasks.graph;
  const auto whole_of = [&](ValueId id) {
    return static_cast<std::size_t>(tasks.pieces.of_value[static_cast<std::size_t>(id)].whole);
  };
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (const ValueId id : *ids) outside_[whole_of(id)] = true;
  }
  for (std::size_t g = 0; g < tasks.groups.size(); ++g) {
    const auto read = [&](const std::vector<ValueId>& ids) {
      for (const ValueId id : ids) {
        if (id != kNoValue) last_[whole_of(id)] = g;
      }
    };
    for (const int node : tasks.groups[g].group.nodes) {
      read(graph::node_at(graph, node).inputs);
    }
    if (tasks.groups[g].task) read(tasks.groups[g].task->inputs);
  }
}

bool LastReads::owns_memory(ValueId id) const {
  const auto at = static_cast<std::size_t>(id);
  return tasks_.pieces.of_value[at].whole == id && !outside_[at] &&
         tasks_.graph->value(id).constant == nullptr;
}

bool LastReads::gives_way(ValueId input, ValueId output, std::size_t group) const {
  return owns_memory(input) && owns_memory(output) &&
         last_[static_cast<std::size_t>(input)] == group &&
         graph::physical_bytes(tasks_.graph->value(input)) ==
             graph::physical_bytes(tasks_.graph->value(output));
}

}  // namespace attune::model
