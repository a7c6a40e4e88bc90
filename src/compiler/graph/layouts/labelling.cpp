#include "compiler/graph/layouts/labelling.h"

#include <algorithm>
#include <limits>
#include <map>

namespace attune::graph {
namespace {

using Costs = std::vector<double>;

class Solver {
 public:
  explicit Solver(const Labelling& labelling)
      : costs_(labelling.costs), neighbours_(costs_.size()), labels_(costs_.size(), 0) {
    for (const Labelling::Edge& edge : labelling.edges) add_edge(edge.a, edge.b, edge.costs);
  }

  std::vector<std::size_t> solve() {
    std::vector<bool> gone(costs_.size(), false);
    for (std::size_t left = costs_.size(); left > 0; --left) {
      const std::size_t node = next_node(gone);
      gone[node] = true;
      eliminate(node);
    }
    for (auto step = eliminated_.rbegin(); step != eliminated_.rend(); ++step) decide(*step);
    return labels_;
  }

 private:
  // Costs towards each neighbour: [own label][its label].
  using Neighbours = std::map<std::size_t, Costs>;
  struct Eliminated {
    std::size_t node;
    Neighbours neighbours;
  };

  std::size_t labels_of(std::size_t node) const { return costs_[node].size(); }

  void add_edge(std::size_t a, std::size_t b, const Costs& costs) {
    if (a == b) {
      for (std::size_t i = 0; i < labels_of(a); ++i) costs_[a][i] += costs[i * labels_of(a) + i];
      return;
    }
    Costs& forward = neighbours_[a][b];
    Costs& backward = neighbours_[b][a];
    forward.resize(costs.size(), 0.0);
    backward.resize(costs.size(), 0.0);
    for (std::size_t i = 0; i < labels_of(a); ++i) {
      for (std::size_t j = 0; j < labels_of(b); ++j) {
        forward[i * labels_of(b) + j] += costs[i * labels_of(b) + j];
        backward[j * labels_of(a) + i] += costs[i * labels_of(b) + j];
      }
    }
  }

  // One with few neighbours, or the one with most.
  std::size_t next_node(const std::vector<bool>& gone) const {
    std::size_t most = costs_.size();
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      if (gone[node]) continue;
      if (neighbours_[node].size() <= 2) return node;
      if (most == costs_.size() || neighbours_[node].size() > neighbours_[most].size()) most = node;
    }
    return most;
  }

  void eliminate(std::size_t node) {
    Neighbours around = std::move(neighbours_[node]);
    for (const auto& [other, ignored] : around) neighbours_[other].erase(node);
    if (around.size() > 2) {
      fix(node, around);
      return;
    }
    if (around.size() == 1) {
      const auto& [other, edge] = *around.begin();
      for (std::size_t j = 0; j < labels_of(other); ++j) {
        costs_[other][j] +=
            least(node, [&](std::size_t i) { return edge[i * labels_of(other) + j]; });
      }
    } else if (around.size() == 2) {
      const auto& [a, to_a] = *around.begin();
      const auto& [b, to_b] = *std::next(around.begin());
      Costs joined(labels_of(a) * labels_of(b));
      for (std::size_t i = 0; i < labels_of(a); ++i) {
        for (std::size_t j = 0; j < labels_of(b); ++j) {
          joined[i * labels_of(b) + j] = least(node, [&](std::size_t own) {
            return to_a[own * labels_of(a) + i] + to_b[own * labels_of(b) + j];
          });
        }
      }
      add_edge(a, b, joined);
    }
    eliminated_.push_back({node, std::move(around)});
  }

  template <typename More>
  double least(std::size_t node, const More& more) const {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < labels_of(node); ++i)
      best = std::min(best, costs_[node][i] + more(i));
    return best;
  }

  // Decides a node of many neighbours as if each of them took the label that suits it.
  void fix(std::size_t node, const Neighbours& around) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < labels_of(node); ++i) {
      double sum = costs_[node][i];
      for (const auto& [other, edge] : around) {
        sum += least(other,
                     [&, &e = edge, o = other](std::size_t j) { return e[i * labels_of(o) + j]; });
      }
      if (sum < best) best = sum, labels_[node] = i;
    }
    for (const auto& [other, edge] : around) {
      for (std::size_t j = 0; j < labels_of(other); ++j) {
        costs_[other][j] += edge[labels_[node] * labels_of(other) + j];
      }
    }
  }

  // Once the neighbours are decided.
  void decide(const Eliminated& step) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < labels_of(step.node); ++i) {
      double sum = costs_[step.node][i];
      for (const auto& [other, edge] : step.neighbours) {
        sum += edge[i * labels_of(other) + labels_[other]];
      }
      if (sum < best) best = sum, labels_[step.node] = i;
    }
  }

  std::vector<Costs> costs_;
  std::vector<Neighbours> neighbours_;
  std::vector<Eliminated> eliminated_;
  std::vector<std::size_t> labels_;
};

}  // namespace

std::vector<std::size_t> cheapest_labels(const Labelling& labelling) {
  return Solver(labelling).solve();
}

double cost_of(const Labelling& labelling, const std::vector<std::size_t>& labels) {
  double sum = 0;
  for (std::size_t node = 0; node < labels.size(); ++node)
    sum += labelling.costs[node][labels[node]];
  for (const Labelling::Edge& edge : labelling.edges) {
    sum += edge.costs[labels[edge.a] * labelling.costs[edge.b].size() + labels[edge.b]];
  }
  return sum;
}

}  // namespace attune::graph
