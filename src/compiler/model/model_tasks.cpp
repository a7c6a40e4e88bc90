#include "compiler/model/model_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "compiler/graph/tasks/zeros.h"
#include "compiler/model/plan/host_operators.h"

namespace attune::model {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

class Collector {
 public:
  explicit Collector(const graph::FusionRules& rules) : rules_(rules) {}

  Result<ModelTasks> run(Graph graph) {
    ATTUNE_ASSIGN(tasks_.main, collect(std::make_shared<const Graph>(std::move(graph)), 1));
    if (!problems_.empty()) {
      return unsupported(
          fmt::format("cannot compile {} {}: {}", problems_.size(),
                      problems_.size() == 1 ? "node" : "nodes", fmt::join(problems_, "; ")),
          "docs/support.md lists what is supported");
    }
    return std::move(tasks_);
  }

 private:
  static bool is_free(const GraphTasks& tasks, int node) {
    return tasks.pieces.is_free[static_cast<std::size_t>(node)];
  }

  // How often the body of a loop runs, if that is known.
  static std::int64_t trips_of(const Graph& graph, const Node& node) {
    if (node.op != "loop") return 1;
    const ops::OpCall call = graph::call_of(graph, node);
    if (call.integer("has_condition") != 0) return 1;
    if (call.integer("has_trip_count") == 0) return call.integer("max_trips");
    return call.constants[0] == nullptr ? 1
                                        : std::max<std::int64_t>(1, call.constants[0]->integer(0));
  }

  Result<std::unique_ptr<GraphTasks>> collect(std::shared_ptr<const Graph> graph,
                                              std::int64_t times, bool is_body = false) {
    auto result = std::make_unique<GraphTasks>();
    result->graph = graph;
    result->pieces = graph::find_pieces(*graph, is_body);
    const std::vector<bool> zeros = graph::values_with_exact_zeros(*graph);
    for (graph::Group& group : graph::fuse(*graph, result->pieces, rules_)) {
      const Node& last = graph->nodes[static_cast<std::size_t>(group.last())];
      const ops::OpKind kind = graph::operator_of(last).kind;
      ModelGroup model_group{std::move(group)};
      if (kind == ops::OpKind::Control) {
        for (std::size_t b = 0; b < last.bodies.size(); ++b) {
          ATTUNE_ASSIGN(result->bodies[std::pair(model_group.group.last(), b)],
                        collect(last.bodies[b], times * trips_of(*graph, last), true));
        }
      } else if (runs_on_host(*graph, last)) {
        if (const auto op = host_operator(last.op, last.attributes); !op.ok()) {
          problems_.push_back(fmt::format("'{}': {}", last.name, op.error().message));
        }
      } else if (kind != ops::OpKind::View && !is_free(*result, model_group.group.last()) &&
                 graph->value(last.outputs[0]).type.elements() > 0) {
        ATTUNE_RETURN_IF_ERROR(add_task(*graph, model_group, zeros, times));
      }
      result->groups.push_back(std::move(model_group));
    }
    return result;
  }

  Status add_task(const Graph& graph, ModelGroup& group, const std::vector<bool>& zeros,
                  std::int64_t times) {
    auto task = graph::make_task(graph, group.group, zeros);
    if (!task.ok()) {
      const Node& last = graph.nodes[static_cast<std::size_t>(group.group.last())];
      problems_.push_back(fmt::format("{} '{}': {}", last.op, last.name, task.error().message));
      return {};
    }
    const auto [known, is_new] = by_key_.emplace(task->key, tasks_.distinct.size());
    if (is_new) {
      tasks_.distinct.push_back(*task);
      tasks_.uses.push_back(0);
    }
    group.distinct = known->second;
    tasks_.uses[group.distinct] += times;
    if (times > 1) tasks_.distinct[group.distinct].repeats = true;
    task->op = {};  // the distinct one keeps the program
    group.task = std::move(*task);
    return {};
  }

  const graph::FusionRules rules_;
  ModelTasks tasks_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::vector<std::string> problems_;
};

}  // namespace

bool runs_on_host(const Graph& graph, const Node& node) {
  const ops::OpKind kind = graph::operator_of(node).kind;
  if (kind == ops::OpKind::Host) return true;
  if (kind == ops::OpKind::Control) return false;
  const auto is_dynamic = [&](ValueId id) {
    return id != graph::kNoValue && !graph.value(id).type.is_static();
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_dynamic) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_dynamic);
}

graph::FusionRules fusion_rules(const target::Target& target) {
  return {.chains = target.fuses_chains};
}

Result<ModelTasks> collect_tasks(Graph graph, const target::Target& target) {
  return Collector(fusion_rules(target)).run(std::move(graph));
}

}  // namespace attune::model
