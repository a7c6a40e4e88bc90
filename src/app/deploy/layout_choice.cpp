#include "app/deploy/layout_choice.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/graph/frame.h"
#include "compiler/graph/labelling.h"
#include "compiler/schedule/bounds.h"
#include "tuner/model/analytic.h"

namespace attune::deploy {
namespace {

constexpr std::int64_t kNarrowest = 4;
// What was never measured must promise this much before it replaces what was.
constexpr double kDoubt = 1.05;
constexpr double kCallUs = 1.0;  // of a kernel that moves elements

struct Cost {
  double predicted_us = 0;
  std::optional<double> measured_us;
};

// Of one convolution, by block.
using Costs = std::vector<Cost>;

bool is_ragged(const graph::Graph& graph, const graph::Node& node, std::int64_t block) {
  const auto channels = [&](graph::ValueId id) { return graph.value(id).type.shape[1]; };
  return channels(node.outputs[0]) % block != 0 || channels(node.inputs[0]) % block != 0;
}

class LayoutChooser {
 public:
  LayoutChooser(const graph::Graph& graph, const CompileOptions& options)
      : graph_(graph), options_(options), lanes_(options.target.lanes(4)) {}

  Result<graph::LayoutPlan> choose() {
    graph::LayoutPlan plan{lanes_};
    graph::Layouts usual = graph::lay_out(graph_, plan);
    if (lanes_ / 2 < kNarrowest || !any_ragged(usual)) return plan;
    const std::vector<std::int64_t> blocks{lanes_, lanes_ / 2};
    std::map<graph::ValueId, Costs> costs;
    for (const std::int64_t block : blocks) {
      ATTUNE_RETURN_IF_ERROR(
          add_costs(block == lanes_ ? usual.graph : graph::lay_out(graph_, {block}).graph, costs));
    }
    const graph::Labelling labelling = labelling_of(usual, costs, blocks.size());
    const std::vector<std::size_t> labels = graph::cheapest_labels(labelling);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != 0) plan.own[usual.convolutions[i]] = blocks[labels[i]];
    }
    return plan;
  }

 private:
  bool any_ragged(const graph::Layouts& layouts) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const graph::Node& node) {
      const auto& all = layouts.convolutions;
      return !node.outputs.empty() &&
             std::find(all.begin(), all.end(), node.outputs[0]) != all.end() &&
             is_ragged(graph_, node, lanes_);
    });
  }

  // What every convolution costs in this graph, with all that is fused into it.
  Status add_costs(const graph::Graph& laid_out, std::map<graph::ValueId, Costs>& costs) {
    auto tasks = collect_tasks(laid_out);
    if (!tasks.ok()) return tasks.error();
    std::vector<std::optional<Cost>> known(tasks->distinct.size());
    const graph::Graph& graph = *tasks->main->graph;
    for (const ModelGroup& group : tasks->main->groups) {
      if (!group.task) continue;
      std::optional<Cost>& cost = known[group.distinct];
      if (!cost) cost = cost_of(tasks->distinct[group.distinct]);
      for (const int node : group.group.nodes) {
        costs[graph.nodes[static_cast<std::size_t>(node)].outputs[0]].push_back(*cost);
      }
    }
    return {};
  }

  Cost cost_of(const graph::Task& task) const {
    const Schedule schedule = options_.choose
                                  ? options_.choose(task)
                                  : default_schedule(task, options_.target, options_.exact);
    Cost cost{0, schedule.measured_us};
    const ir::Program* program = program_of(task, schedule.algorithm);
    auto state = schedule::replay(*program, schedule.trace);
    if (!state.ok()) return cost;
    auto bounds = schedule::infer_bounds(*state, schedule::Mins::Leave);
    if (!bounds.ok()) return cost;
    cost.predicted_us = model_.predict_us({std::move(*state), std::move(*bounds)});
    return cost;
  }

  // Predictions are scaled by what measurements of the same convolution say about them.
  static std::vector<double> microseconds(const Costs& costs) {
    double scale = 1;
    bool measured = false;
    for (const Cost& cost : costs) {
      if (!cost.measured_us || cost.predicted_us <= 0) continue;
      scale = *cost.measured_us / cost.predicted_us;
      measured = true;
    }
    std::vector<double> result;
    for (const Cost& cost : costs) {
      const double guessed = cost.predicted_us * scale * (measured ? kDoubt : 1.0);
      result.push_back(cost.measured_us.value_or(guessed));
    }
    return result;
  }

  // Reading and writing from the shared cache.
  double moving_us(graph::ValueId id) const {
    const model::MachineModel machine;
    const double bytes = 2.0 * static_cast<double>(graph::physical_bytes(graph_.value(id)));
    const double cores = std::min<double>(options_.target.threads, machine.l3_sharing);
    return kCallUs + bytes / (machine.l3_bandwidth * machine.ghz * 1e3 * cores);
  }

  graph::Labelling labelling_of(const graph::Layouts& layouts,
                                const std::map<graph::ValueId, Costs>& costs,
                                std::size_t blocks) const {
    graph::Labelling labelling;
    std::map<graph::ValueId, std::size_t> number;
    for (const graph::ValueId id : layouts.convolutions) {
      number[id] = labelling.costs.size();
      const auto found = costs.find(id);
      // Without a kernel of its own it does not matter.
      const bool known = found != costs.end() && found->second.size() == blocks;
      labelling.costs.push_back(known ? microseconds(found->second)
                                      : std::vector<double>(blocks, 0.0));
    }
    for (const graph::LayoutLink& link : layouts.links) {
      std::vector<double> moving(blocks * blocks, moving_us(link.moved));
      for (std::size_t i = 0; i < blocks; ++i) moving[i * blocks + i] = 0;
      labelling.edges.push_back({number.at(link.from), number.at(link.to), std::move(moving)});
    }
    return labelling;
  }

  const graph::Graph& graph_;
  const CompileOptions& options_;
  std::int64_t lanes_;
  model::AnalyticModel model_{options_.target};
};

}  // namespace

Result<graph::LayoutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options) {
  return LayoutChooser(graph, options).choose();
}

}  // namespace attune::deploy
