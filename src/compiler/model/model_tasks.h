// The tasks of a model: the groups of its graph, and of the bodies within, as programs; equal ones
// once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/graph/tasks/tasks.h"
#include "compiler/target/target.h"

namespace attune::model {

// A group of a graph. Kernels have a task: their own values, and which distinct task it is.
struct ModelGroup {
  graph::Group group;
  std::optional<graph::Task> task = {};
  std::size_t distinct = 0;
};

struct GraphTasks {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<ModelGroup> groups;
  graph::Pieces pieces;
  // By node and number of the body.
  std::map<std::pair<int, std::size_t>, std::unique_ptr<GraphTasks>> bodies;
};

struct ModelTasks {
  std::unique_ptr<GraphTasks> main;
  std::vector<graph::Task> distinct;
  // How often a run of the model computes each; bodies of loops that end by themselves count once.
  std::vector<std::int64_t> uses;
};

// What is fused for a target. Blocks of a launch keep nothing for those of the next one.
graph::FusionRules fusion_rules(const target::Target& target);

// Layouts must be assigned. Fails with one error that lists all nodes that cannot run.
Result<ModelTasks> collect_tasks(graph::Graph graph, const target::Target& target);

// Whether the runtime runs the node as a host operator: one by nature, or one that has tensors
// whose size depends on data.
bool runs_on_host(const graph::Graph& graph, const graph::Node& node);

}  // namespace attune::model
