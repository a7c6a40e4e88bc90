#include "compiler/model/layout_choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/graph/frame.h"
#include "compiler/graph/layouts/labelling.h"
#include "compiler/schedule/bounds.h"
#include "tuner/cost_model/analytic.h"

namespace attune::model {
namespace {

constexpr std::int64_t kNarrowest = 4;
// What was never measured must promise this much before it replaces what was.
constexpr double kDoubt = 1.05;
// Of a kernel that moves elements: what a call takes, and the part of the third cache's bandwidth
// that it reads and writes with where that was not measured (1.2 MB from blocks of 16 to blocks of
// 8 take 68 us on two cores of a Zen 4).
constexpr double kCallUs = 1.0, kOfL3 = 0.27;
constexpr double kNeverUs = 1e9;  // the parts of one kernel have the same layout

struct Cost {
  double predicted_us = 0;
  std::optional<double> measured_us;
};

// Of one convolution, by block.
using Costs = std::vector<Cost>;
// The convolutions of a model that have a kernel, by their outputs.
struct ConvolutionTasks {
  std::map<graph::ValueId, graph::Task> own;
  // Those behind the first of their kernel, with that one; they cost nothing more.
  std::map<graph::ValueId, graph::ValueId> chained;
};

// Whether blocks of this size are not filled by the channels of a convolution. The few channels of
// a first layer are read as they come.
bool is_ragged(const graph::Graph& laid_out, const graph::Node& node, std::int64_t block) {
  const auto fills = [&](graph::ValueId id) {
    const graph::Value& value = laid_out.value(id);
    return value.layout.block == 0 || value.type.shape[1] % block == 0;
  };
  return !fills(node.outputs[0]) || !fills(node.inputs[0]);
}

class LayoutChooser {
 public:
  LayoutChooser(const graph::Graph& graph, const CompileOptions& options)
      : graph_(graph),
        options_(options),
        lanes_(options.target.channel_block(ops::is_narrow(options.precision) ? 2 : 4)),
        moved_per_us_(usual_speed(options.target)) {}

  Result<graph::LayoutPlan> choose() {
    graph::LayoutPlan plan{lanes_};
    const graph::Layouts usual = graph::lay_out(graph_, plan);
    if (lanes_ / 2 < kNarrowest || !any_ragged(usual)) return plan;
    const std::vector<std::int64_t> blocks{lanes_, lanes_ / 2};
    std::vector<ConvolutionTasks> variants;
    for (const std::int64_t block : blocks) {
      ATTUNE_ASSIGN(ConvolutionTasks tasks, tasks_with(usual, block));
      variants.push_back(std::move(tasks));
    }
    ATTUNE_ASSIGN(const std::optional<Move> largest, largest_move(usual, blocks));
    ATTUNE_RETURN_IF_ERROR(announce(variants, largest));
    if (largest) learn_speed(*largest);
    const graph::Labelling labelling = labelling_of(usual, variants);
    const std::vector<std::size_t> labels = graph::cheapest_labels(labelling);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != 0) plan.own[usual.convolutions[i]] = blocks[labels[i]];
    }
    return plan;
  }

 private:
  bool any_ragged(const graph::Layouts& layouts) const {
    const auto& nodes = layouts.graph.nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](const graph::Node& node) {
      const auto& all = layouts.convolutions;
      return !node.outputs.empty() &&
             std::find(all.begin(), all.end(), node.outputs[0]) != all.end() &&
             is_ragged(layouts.graph, node, lanes_);
    });
  }

  // The tasks of all convolutions, with what is fused into them, when all have blocks of this size.
  Result<ConvolutionTasks> tasks_with(const graph::Layouts& layouts, std::int64_t block) const {
    ATTUNE_ASSIGN(ModelTasks tasks,
                  collect_tasks(graph::lay_out(graph_, {block}).graph, options_.target));
    const std::set<graph::ValueId> convolutions(layouts.convolutions.begin(),
                                                layouts.convolutions.end());
    ConvolutionTasks result;
    for (ModelGroup& group : tasks.main->groups) {
      if (!group.task) continue;
      std::optional<graph::ValueId> first;
      for (const int node : group.group.nodes) {
        const graph::Node& member = tasks.main->graph->nodes[static_cast<std::size_t>(node)];
        const graph::ValueId id = member.outputs[0];
        if (convolutions.count(id) == 0) continue;
        if (first) {
          result.chained.emplace(id, *first);
        } else {
          result.own.emplace(id, tasks.distinct[group.distinct]);
          first = id;
        }
      }
    }
    return result;
  }

  // Changing the blocks of a value, as a kernel by itself.
  struct Move {
    graph::ValueId moved = graph::kNoValue;
    graph::Task task;
  };

  // What may have to be moved at most; nothing when no two convolutions meet.
  Result<std::optional<Move>> largest_move(const graph::Layouts& layouts,
                                           const std::vector<std::int64_t>& blocks) const {
    if (layouts.links.empty()) return std::optional<Move>();
    const auto link = std::max_element(layouts.links.begin(), layouts.links.end(),
                                       [&](const auto& a, const auto& b) {
                                         return graph::physical_bytes(graph_.value(a.moved)) <
                                                graph::physical_bytes(graph_.value(b.moved));
                                       });
    const graph::TensorType& type = graph_.value(link->moved).type;
    graph::Graph alone{.name = "relayout",
                       .values = {{"wide", type, nullptr, {blocks.front()}},
                                  {"narrow", type, nullptr, {blocks.back()}}},
                       .nodes = {{"relayout", "relayout", {0}, {1}}},
                       .inputs = {0},
                       .outputs = {1}};
    ATTUNE_ASSIGN(ModelTasks tasks, collect_tasks(std::move(alone), options_.target));
    CHECK(tasks.distinct.size() == 1, "moving a value is one task");
    return std::optional<Move>(Move{link->moved, std::move(tasks.distinct.front())});
  }

  // What was measured about one move holds for all, by their bytes.
  void learn_speed(const Move& move) {
    const Cost cost = cost_of(move.task);
    if (!cost.measured_us) return;
    const double us = std::max(*cost.measured_us - kCallUs, 0.1 * *cost.measured_us);
    moved_per_us_ = moved_bytes(move.moved) / us;
  }

  Status announce(const std::vector<ConvolutionTasks>& variants,
                  const std::optional<Move>& move) const {
    if (!options_.before_layouts) return {};
    std::map<std::string, const graph::Task*> distinct;
    for (const ConvolutionTasks& tasks : variants) {
      for (const auto& [id, task] : tasks.own) distinct.emplace(task.key, &task);
    }
    if (move) distinct.emplace(move->task.key, &move->task);
    std::vector<graph::Task> list;
    for (const auto& [key, task] : distinct) list.push_back(*task);
    return options_.before_layouts(list);
  }

  Cost cost_of(const graph::Task& task) const {
    const Schedule schedule = options_.schedule_of(task);
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

  // Read and written.
  double moved_bytes(graph::ValueId id) const {
    return 2.0 * static_cast<double>(graph::physical_bytes(graph_.value(id)));
  }

  double moving_us(graph::ValueId id) const { return kCallUs + moved_bytes(id) / moved_per_us_; }

  // On all cores, as long as nothing was measured.
  static double usual_speed(const target::Target& target) {
    const double of_one = 1e3 * target.machine.ghz * target.machine.l3_bandwidth;  // in 1 us
    return kOfL3 * of_one * std::min<double>(target.threads, target.machine.l3_sharing);
  }

  graph::Labelling labelling_of(const graph::Layouts& layouts,
                                const std::vector<ConvolutionTasks>& variants) const {
    const std::size_t blocks = variants.size();
    graph::Labelling labelling;
    std::map<graph::ValueId, std::size_t> number;
    std::map<std::string, Cost> known;  // by the key of the task
    for (const graph::ValueId id : layouts.convolutions) {
      number[id] = labelling.costs.size();
      Costs costs;
      for (const ConvolutionTasks& tasks : variants) {
        const auto task = tasks.own.find(id);
        if (task == tasks.own.end()) continue;
        auto [cost, is_new] = known.try_emplace(task->second.key);
        if (is_new) cost->second = cost_of(task->second);
        costs.push_back(cost->second);
      }
      // Without a kernel of its own it does not matter.
      labelling.costs.push_back(costs.size() == blocks ? microseconds(costs)
                                                       : std::vector<double>(blocks, 0.0));
    }
    const auto connect = [&](graph::ValueId from, graph::ValueId to, double moving_us) {
      std::vector<double> costs(blocks * blocks, moving_us);
      for (std::size_t i = 0; i < blocks; ++i) costs[i * blocks + i] = 0;
      labelling.edges.push_back({number.at(from), number.at(to), std::move(costs)});
    };
    for (const graph::LayoutLink& link : layouts.links) {
      connect(link.from, link.to, moving_us(link.moved));
    }
    for (const auto& [second, first] : variants.front().chained) connect(first, second, kNeverUs);
    return labelling;
  }

  const graph::Graph& graph_;
  const CompileOptions& options_;
  std::int64_t lanes_;
  double moved_per_us_;
  cost_model::AnalyticModel model_{options_.target, options_.cold_weights};
};

}  // namespace

Result<graph::LayoutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options) {
  return LayoutChooser(graph, options).choose();
}

}  // namespace attune::model
