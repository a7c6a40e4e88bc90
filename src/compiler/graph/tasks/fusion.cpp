#include "compiler/graph/tasks/fusion.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/graph/tasks/anchors.h"
#include "compiler/graph/tasks/attention.h"
#include "compiler/graph/tasks/cell.h"
#include "compiler/graph/tasks/chain.h"
#include "compiler/graph/tasks/movement.h"

namespace attune::graph {
namespace {

using ops::OpKind;

// Kernels with more nodes than this take long to compile and gain nothing.
constexpr std::size_t kLargestGroup = 24;

class Fusion {
 public:
  Fusion(const Graph& graph, const Pieces& pieces, const FusionRules& rules)
      : graph_(graph),
        pieces_(pieces),
        rules_(rules),
        producers_(producers(graph)),
        consumers_(consumers(graph)) {
    group_of_.resize(graph.nodes.size());
    std::iota(group_of_.begin(), group_of_.end(), 0);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      members_.push_back({static_cast<int>(n)});
      heavy_.push_back(is_anchor(graph.nodes[n]));
      is_output_.push_back(false);
    }
    for (const ValueId id : graph.outputs) {
      if (const int producer = producer_of(id); producer >= 0) {
        is_output_[static_cast<std::size_t>(producer)] = true;
      }
    }
    for (const std::vector<int>& cell : find_cells(graph)) {
      for (const int member : cell) {
        if (member != cell.back()) merge(member, cell.back());
      }
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      join_producers(static_cast<int>(n));
      take_in_attention(static_cast<int>(n));
      take_in_movement(static_cast<int>(n));
    }
  }

  std::vector<Group> take() {
    std::vector<Group> groups;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      auto& members = members_[static_cast<std::size_t>(group_of_[n])];
      if (members.empty() || members.back() != static_cast<int>(n)) continue;
      groups.push_back({members});
    }
    return groups;
  }

 private:
  OpKind kind(int node) const { return operator_of(node_at(graph_, node)).kind; }
  int producer_of(ValueId id) const {
    return id == kNoValue ? -1 : producers_[static_cast<std::size_t>(id)];
  }
  // Anchors of kernels: what has a fast form, and all that is heavy anyway.
  bool is_anchor(const Node& node) const {
    const OpKind node_kind = operator_of(node).kind;
    if (node_kind == OpKind::Heavy) return true;
    return node.outputs.size() == 1 && node_kind == OpKind::Reduction &&
           graph_.value(node.outputs[0]).layout.is_blocked();
  }
  bool only_reader(ValueId id, int node) const {
    const auto& readers = consumers_[static_cast<std::size_t>(id)];
    return readers.size() == 1 && readers[0] == node &&
           !is_output_[static_cast<std::size_t>(producer_of(id))];
  }
  std::vector<int>& group(int node) {
    return members_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(node)])];
  }
  bool has_heavy(int node) {
    const auto& members = group(node);
    return std::any_of(members.begin(), members.end(),
                       [&](int m) { return heavy_[static_cast<std::size_t>(m)]; });
  }
  // The one heavy member of the node's group; -1 when there are none or several.
  int only_heavy(int node) {
    const auto& members = group(node);
    const auto is_heavy = [&](int m) { return heavy_[static_cast<std::size_t>(m)]; };
    if (std::count_if(members.begin(), members.end(), is_heavy) != 1) return -1;
    return *std::find_if(members.begin(), members.end(), is_heavy);
  }
  bool has_reduction(int node) {
    const auto& members = group(node);
    return std::any_of(members.begin(), members.end(), [&](int m) {
      return kind(m) == OpKind::Reduction || kind(m) == OpKind::Opaque;
    });
  }

  bool stands_alone(int node) const {
    const OpKind node_kind = kind(node);
    if (pieces_.is_free[static_cast<std::size_t>(node)]) return true;
    // A function of the runtime computes one operator, whatever its kind.
    const auto is_dynamic = [&](ValueId id) {
      return id != kNoValue && !graph_.value(id).type.is_static();
    };
    const Node& self = node_at(graph_, node);
    if (std::any_of(self.inputs.begin(), self.inputs.end(), is_dynamic) ||
        std::any_of(self.outputs.begin(), self.outputs.end(), is_dynamic)) {
      return true;
    }
    return node_kind == OpKind::View || node_kind == OpKind::Host || node_kind == OpKind::Control;
  }

  // Whether `node` alone may become the second part of a chain whose first part ends in `producer`.
  bool is_chain(int producer, int node, ValueId id) {
    const Node& reader = node_at(graph_, node);
    if (!rules_.chains || group(node).size() > 1 || reader.inputs[0] != id ||
        has_reduction(producer))
      return false;
    const int first = only_heavy(producer);
    return first >= 0 && may_chain(graph_, node_at(graph_, first), reader);
  }

  // Whether the group that ends in `producer` may go on with `node`, which reads its result `id`.
  bool may_follow(int producer, int node, ValueId id) {
    const OpKind from = kind(producer);
    const OpKind to = kind(node);
    if (stands_alone(producer) || stands_alone(node)) return false;
    if (is_chain(producer, node, id)) return true;
    const Value& value = graph_.value(id);
    const Value& result = graph_.value(node_at(graph_, node).outputs[0]);
    const bool same_place = value.type.shape == result.type.shape && value.layout == result.layout;
    const bool in_place = operator_of(node_at(graph_, node)).traits.stays_in_place;
    if ((to == OpKind::Elementwise || in_place) && same_place) {
      // Both sides of a sum may be reductions: one stays outside.
      return !((has_heavy(node) || has_reduction(node)) &&
               (has_heavy(producer) || has_reduction(producer)));
    }
    if (has_heavy(producer) || has_reduction(producer) || has_heavy(node)) return false;
    if (!value.type.is_static() || value.type.elements() == 0) return false;
    const bool grows = result.type.elements() > 2 * value.type.elements();
    const bool cheap = from == OpKind::Injective || from == OpKind::Elementwise;
    if (!cheap) return false;
    if (to == OpKind::Elementwise) return !grows;
    if (to == OpKind::Injective) return !grows && from == OpKind::Injective;
    return to == OpKind::Reduction && from == OpKind::Elementwise;
  }

  void join_producers(int node) {
    if (node_at(graph_, node).outputs.size() != 1) return;
    // Later producers first, and heavy ones before others.
    std::vector<ValueId> inputs = node_at(graph_, node).inputs;
    std::stable_sort(inputs.begin(), inputs.end(), [&](ValueId a, ValueId b) {
      const int pa = producer_of(a);
      const int pb = producer_of(b);
      const bool ha = pa >= 0 && has_heavy(pa);
      const bool hb = pb >= 0 && has_heavy(pb);
      return ha != hb ? ha : pa > pb;
    });
    for (const ValueId id : inputs) {
      const int producer = producer_of(id);
      if (producer < 0 || group_of_[static_cast<std::size_t>(producer)] ==
                              group_of_[static_cast<std::size_t>(node)]) {
        continue;
      }
      if (node_at(graph_, producer).outputs.size() != 1) continue;
      if (!only_reader(id, node) || !may_follow(producer, node, id)) continue;
      if (group(producer).size() + group(node).size() > kLargestGroup) continue;
      merge(producer, node);
    }
  }

  // The node whose result this one rounds, if they are one group; else the node itself.
  int behind_rounding(int node) {
    if (node_at(graph_, node).op != "cast") return node;
    const int producer = producer_of(node_at(graph_, node).inputs[0]);
    const bool together = producer >= 0 && group_of_[static_cast<std::size_t>(producer)] ==
                                               group_of_[static_cast<std::size_t>(node)];
    return together ? producer : node;
  }

  // The softmax of another product, where this node multiplies its rows with a matrix. Queries and
  // keys are read through movement of any kind: the whole of both is read again and again.
  void take_in_attention(int node) {
    const Node& product = node_at(graph_, node);
    const int weights = product.op == "matmul" ? producer_of(product.inputs[0]) : -1;
    const int softmax = weights < 0 ? -1 : behind_rounding(weights);
    if (softmax < 0 || group(softmax).size() != (softmax == weights ? 1U : 2U)) return;
    const ValueId scores = node_at(graph_, softmax).inputs[0];
    const int producer = producer_of(scores);
    if (producer < 0 || !only_reader(product.inputs[0], node) || !only_reader(scores, softmax)) {
      return;
    }
    const int first = only_heavy(producer);
    if (first < 0 || has_reduction(producer) || group(producer).back() != producer ||
        group(producer).size() + 3 > kLargestGroup) {
      return;
    }
    const AttentionNodes nodes{first, softmax, node};
    if (!may_attend(graph_, nodes)) return;
    merge(producer, node);
    merge(softmax, node);
    for (const ValueId operand : node_at(graph_, first).inputs) {
      for (const int member : movement_before(first, operand)) {
        if (group_of_[static_cast<std::size_t>(member)] !=
            group_of_[static_cast<std::size_t>(node)]) {
          merge(member, node);
        }
      }
    }
  }

  // Chains of views, transposes and slices that only this node reads: transposes go on from where
  // a chain begins, and products of matrices read through it where rows stay rows.
  void take_in_movement(int node) {
    const Node& reader = node_at(graph_, node);
    const bool product = reader.op == "matmul" && reader.inputs.size() == 2 &&
                         graph_.value(reader.inputs[1]).type.rank() > 2 &&
                         !graph_.value(reader.outputs[0]).layout.is_blocked();
    if (!product && !(reader.op == "transpose" && is_movement(graph_, reader))) return;
    for (const ValueId input : reader.inputs) {
      const std::vector<int> chain = movement_before(node, input);
      const bool rows = std::all_of(chain.begin(), chain.end(), [&](int n) {
        return keeps_neighbours(graph_, node_at(graph_, n));
      });
      if (product && !rows) continue;
      for (const int member : chain) {
        if (group_of_[static_cast<std::size_t>(member)] !=
            group_of_[static_cast<std::size_t>(node)]) {
          merge(member, node);
        }
      }
    }
  }

  // Nearest first; the last one needs a kernel of its own if it is not taken in.
  std::vector<int> movement_before(int reader, ValueId id) {
    std::vector<int> chain;
    for (int node = reader;;) {
      const int producer = producer_of(id);
      if (producer < 0 || !only_reader(id, node) || !only_moves(producer)) break;
      if (pieces_.is_free[static_cast<std::size_t>(producer)]) break;
      chain.push_back(producer);
      node = producer;
      id = node_at(graph_, node).inputs[0];
    }
    while (!chain.empty() && stands_alone(chain.back())) chain.pop_back();
    return chain;
  }

  bool only_moves(int node) {
    const auto& members = group(node);
    return std::all_of(members.begin(), members.end(),
                       [&](int m) { return is_movement(graph_, node_at(graph_, m)); });
  }

  void merge(int producer, int node) {
    const int from = group_of_[static_cast<std::size_t>(producer)];
    const int into = group_of_[static_cast<std::size_t>(node)];
    auto& target = members_[static_cast<std::size_t>(into)];
    auto& source = members_[static_cast<std::size_t>(from)];
    target.insert(target.end(), source.begin(), source.end());
    std::sort(target.begin(), target.end());
    for (const int member : source) group_of_[static_cast<std::size_t>(member)] = into;
    source.clear();
  }

  const Graph& graph_;
  const Pieces& pieces_;
  const FusionRules rules_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> group_of_;
  std::vector<std::vector<int>> members_;
  std::vector<bool> heavy_, is_output_;
};

}  // namespace

std::vector<Group> fuse(const Graph& graph, const Pieces& pieces, const FusionRules& rules) {
  return Fusion(graph, pieces, rules).take();
}

std::pair<Group, Group> divide(const Graph& graph, const Group& group, ValueId value) {
  std::set<ValueId> wanted{value};
  Group before, others;
  for (auto node = group.nodes.rbegin(); node != group.nodes.rend(); ++node) {
    const Node& member = node_at(graph, *node);
    const bool is_before = wanted.count(member.outputs[0]) > 0;
    (is_before ? before : others).nodes.push_back(*node);
    if (is_before) wanted.insert(member.inputs.begin(), member.inputs.end());
  }
  std::reverse(before.nodes.begin(), before.nodes.end());
  std::reverse(others.nodes.begin(), others.nodes.end());
  return {std::move(before), std::move(others)};
}

}  // namespace attune::graph
